package resp

// A command that builds something in memory beside its reply, of a size that neither its
// arguments nor the output buffer bound, counts the bytes as they grow. They belong to the
// server's budget until the command ends.

const (
	msgNoMemory = "ERR not enough memory for the data that the command builds (client-memory)"
	// takenSlice is how many bytes are charged at a time.
	takenSlice = 256 << 10
	// uncharged is how many bytes a command takes without a charge.
	uncharged = 64 << 10
	// builtEntry is about how many bytes an entry of a list, or of a map, takes beside its own.
	builtEntry = 64
)

// takes counts n more bytes, or reports that there is no memory for them.
func (x *Call) takes(n int64) bool { return x.takeBy(x.host.borrow, n) }

// spares is takes for what makes the command faster, and is not needed: half of the memory
// stays for others.
func (x *Call) spares(n int64) bool { return x.takeBy(x.host.spare, n) }

func (x *Call) takeBy(take func(int64) bool, n int64) bool {
	x.taken += n
	if x.taken <= x.takenCharged+uncharged {
		return true
	}
	more := max(x.taken-x.takenCharged, takenSlice)
	if !take(more) {
		return false
	}
	x.takenCharged += more
	return true
}

// needs raises what is counted to n bytes, or reports that there is no memory for them. One
// connection at a time may exceed the limit, so n must be bounded by the largest value.
func (x *Call) needs(n int64) bool {
	if n <= x.takenCharged+uncharged {
		return true
	}
	if !x.host.charge(n - x.takenCharged) {
		return false
	}
	x.taken, x.takenCharged = n, n
	return true
}

// giveBack ends the count.
func (x *Call) giveBack() {
	x.host.release(x.takenCharged)
	x.taken, x.takenCharged = 0, 0
}
