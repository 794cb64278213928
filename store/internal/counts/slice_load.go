package counts

// A SliceLoad is what a slice, or a part of one, holds.
type SliceLoad struct {
	All       Load
	Databases map[uint16]Load // from 1 on; nil if they hold nothing
}

// LoadOf returns what a slice holds, as it is counted.
func (c *Counts) LoadOf(slice uint16) (l SliceLoad) {
	l.All = c.Of(slice)
	c.Each(slice, l.setDatabase)
	return l
}

// Of returns what one database holds.
func (l *SliceLoad) Of(database int) Load {
	if database != 0 {
		return l.Databases[uint16(database)]
	}
	sum := l.All
	for _, other := range l.Databases {
		sum.Subtract(other)
	}
	return sum
}

// Add adds what one database holds more.
func (l *SliceLoad) Add(database uint16, more Load) {
	l.All.Add(more)
	if database != 0 {
		sum := l.Databases[database]
		sum.Add(more)
		l.setDatabase(database, sum)
	}
}

// AddTo adds what a slice holds to its parts.
func (l *SliceLoad) AddTo(parts map[Part]Load, slice uint16) {
	add := func(database uint16, l Load) {
		part := Part{Database: database, Slice: slice}
		sum := parts[part]
		sum.Add(l)
		parts[part] = sum
	}
	add(0, l.All)
	for n, of := range l.Databases {
		add(n, of)
	}
}

func (l *SliceLoad) setDatabase(n uint16, of Load) {
	if l.Databases == nil {
		l.Databases = make(map[uint16]Load)
	}
	l.Databases[n] = of
}

// Proportion estimates what so many tokens of the slice hold.
func (l *SliceLoad) Proportion(tokens int64) (part SliceLoad) {
	of := func(l Load) Load {
		return Load{
			Keys: Proportion(l.Keys, tokens), Bytes: Proportion(l.Bytes, tokens), Expires: Proportion(l.Expires, tokens),
			TimedHashes: Proportion(l.TimedHashes, tokens),
		}
	}
	part.All = of(l.All)
	for n, all := range l.Databases {
		part.setDatabase(n, of(all))
	}
	return part
}

// Proportion is n × tokens ÷ 2¹⁶, rounded up.
func Proportion(n, tokens int64) int64 {
	return int64((float64(n)*float64(tokens) + 1<<16 - 1) / (1 << 16))
}
