package sim

// A load is what some keys are together. All of it is whole numbers, so that sums do
// not depend on who adds up what in which order.
type load struct {
	keys, bytes int64
	zipf        uint64 // requests by rank: parts of keyspace.zipfTotal
	hot         int64  // keys that are hot
}

func (l load) amount() Amount { return Amount{Keys: l.keys, Bytes: l.bytes} }

func (l *load) add(m load) {
	l.keys += m.keys
	l.bytes += m.bytes
	l.zipf += m.zipf
	l.hot += m.hot
}

func (l *load) sub(m load) {
	l.keys -= m.keys
	l.bytes -= m.bytes
	l.zipf -= m.zipf // below 0 in the tally of one worker, and right again in the sum
	l.hot -= m.hot
}

func (a *Amount) add(b Amount) {
	a.Keys += b.Keys
	a.Bytes += b.Bytes
}

func (a *Amount) sub(b Amount) {
	a.Keys -= b.Keys
	a.Bytes -= b.Bytes
}

// times is the amount of n copies.
func (a Amount) times(n int) Amount {
	return Amount{Keys: a.Keys * int64(n), Bytes: a.Bytes * int64(n)}
}
