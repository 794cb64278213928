package sim

// A load is what some keys are together. All of it is whole numbers, so that sums do
// not depend on who adds up what in which order.
type load struct {
	Amount
	zipf uint64 // requests by rank: parts of keyspace.zipfTotal
	hot  int64  // keys that are hot
}

func (l *load) add(m load) {
	l.Amount.add(m.Amount)
	l.zipf += m.zipf
	l.hot += m.hot
}

// negative is what takes the load away when it is added. The tally of one worker may be below 0,
// which is right again in the sum of all.
func (l load) negative() load {
	return load{Amount: l.times(-1), zipf: -l.zipf, hot: -l.hot}
}

func (a *Amount) add(b Amount) {
	a.Keys += b.Keys
	a.Bytes += b.Bytes
}

// times is the amount of n copies.
func (a Amount) times(n int) Amount {
	return Amount{Keys: a.Keys * int64(n), Bytes: a.Bytes * int64(n)}
}
