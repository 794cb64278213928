package resp

// A command that builds something in memory beside its reply, of a size that neither its
// arguments nor the output buffer bound, counts the bytes as they grow. They belong to the
// server's budget until the command ends.

const (
	msgNoMemory = "ERR not enough memory for the data that the command builds (client-memory)"
	// takenSlice is how many bytes are charged at a time.
	takenSlice = 256 << 10
	// builtEntry is about how many bytes an entry of a list, or of a map, takes beside its own.
	builtEntry = 64
)

// takes counts n more bytes, or reports that there is no memory for them.
func (x *call) takes(n int64) bool { return x.takeBy((*budget).borrow, n) }

// spares is takes for what makes the command faster, and is not needed: half of the memory
// stays for others.
func (x *call) spares(n int64) bool { return x.takeBy((*budget).spare, n) }

func (x *call) takeBy(take func(*budget, *conn, int64) bool, n int64) bool {
	x.taken += n
	if x.taken <= x.takenCharged+keepInput {
		return true
	}
	more := max(x.taken-x.takenCharged, takenSlice)
	if !take(&x.srv.budget, x.conn, more) {
		return false
	}
	x.takenCharged += more
	return true
}

// needs raises what is counted to n bytes, or reports that there is no memory for them. One
// connection at a time may exceed the limit, so n must be bounded by the largest value.
func (x *call) needs(n int64) bool {
	if n <= x.takenCharged+keepInput {
		return true
	}
	more := n - x.takenCharged
	if !x.srv.budget.charge(x.conn, more) {
		x.srv.budget.release(x.conn, more)
		return false
	}
	x.taken, x.takenCharged = n, n
	return true
}

// giveBack ends the count.
func (x *call) giveBack() {
	x.srv.budget.release(x.conn, x.takenCharged)
	x.taken, x.takenCharged = 0, 0
}
