package command

// A command that builds something in memory beside its reply, of a size that neither its
// arguments nor the output buffer bound, counts the bytes as they grow. They belong to the
// server's budget until the command ends.

const (
	// MsgNoMemory is the error of a command that builds more than there is memory for.
	MsgNoMemory = "ERR not enough memory for the data that the command builds (client-memory)"
	// takenSlice is how many bytes are charged at a time.
	takenSlice = 256 << 10
	// uncharged is how many bytes a command takes without a charge.
	uncharged = 64 << 10
	// BuiltEntry is about how many bytes an entry of a list, or of a map, takes beside its own.
	BuiltEntry = 64
)

// Take counts n more bytes, or reports that there is no memory for them.
func (x *Call) Take(n int64) bool { return x.takeBy(x.Host.Borrow, n) }

// TryTake is takes for what makes the command faster, and is not needed: half of the memory
// stays for others.
func (x *Call) TryTake(n int64) bool { return x.takeBy(x.Host.Spare, n) }

func (x *Call) takeBy(take func(int64) bool, n int64) bool {
	x.Taken += n
	if x.Taken <= x.takenCharged+uncharged {
		return true
	}
	more := max(x.Taken-x.takenCharged, takenSlice)
	if !take(more) {
		return false
	}
	x.takenCharged += more
	return true
}

// TakeUpTo raises what is counted to n bytes, or reports that there is no memory for them. One
// connection at a time may exceed the limit, so n must be bounded by the largest value.
func (x *Call) TakeUpTo(n int64) bool {
	if n <= x.takenCharged+uncharged {
		return true
	}
	if !x.Host.Charge(n - x.takenCharged) {
		return false
	}
	x.Taken, x.takenCharged = n, n
	return true
}

// ReleaseTaken ends the count.
func (x *Call) ReleaseTaken() {
	x.Host.Release(x.takenCharged)
	x.Taken, x.takenCharged = 0, 0
}
