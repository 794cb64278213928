package table

// SetBackups says how many copies are wanted beside the primary from now on. Like
// [SetMoves] it compares nothing: the last order holds. The copies follow by handoffs.
type SetBackups struct {
	Backups int
}

func (*SetBackups) kind() kind { return kindSetBackups }

func (s *SetBackups) code(c *codec) { c.integer(&s.Backups) }

func (s *SetBackups) apply(d *draft) error {
	d.cluster.Backups = s.Backups
	d.replan()
	return d.cluster.validate()
}

// Renew gives rows their next version and changes nothing else. Whatever was proposed
// for them as they were, and whose outcome is not known, is refused from then on.
type Renew struct {
	Rows []Ref
}

func (*Renew) kind() kind { return kindRenew }

func (r *Renew) code(c *codec) { refs(c, &r.Rows) }

func (r *Renew) apply(d *draft) error {
	for _, ref := range r.Rows {
		if _, err := d.edit(ref); err != nil {
			return err
		}
	}
	return nil
}
