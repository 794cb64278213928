package resp

// Commands of scripts and transactions share a unit that may be dropped as a whole, so their
// changes stay in memory until its end. These bytes count for the server's budget.

// growUnit takes n bytes for changes of the unit, or reports that there is no memory for them.
func (c *conn) growUnit(n int64) bool {
	if !c.srv.budget.charge(c, n) {
		c.srv.budget.release(c, n)
		return false
	}
	c.unitCharged += n
	return true
}

// weighUnit brings the charge for the unit's changes up to date, and reports whether there is
// memory for them.
func (c *conn) weighUnit() bool {
	size := c.unit.Size()
	return size <= c.unitCharged+keepInput || c.growUnit(size-c.unitCharged)
}

// unitEnded gives back what the unit was charged.
func (c *conn) unitEnded() {
	if c.unitCharged > 0 {
		c.srv.budget.release(c, c.unitCharged)
		c.unitCharged = 0
	}
}
