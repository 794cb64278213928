package collection

// How far a group has come. The rules are those of Redis 7.0: a group counts what it reads as
// long as nothing behind it was removed by itself; where it cannot count, the number is taken
// from the ends of the stream, if it can be.

// numberOf returns the number, from 1 on, of the entry with an ID among all that were ever
// added, or, of an ID without entry, that of the last before it; false if that is not known.
func (s *Stream) numberOf(id ID) (n uint64, ok bool) {
	if s.Added == 0 {
		return 0, true
	}
	length := uint64(s.v.Count)
	last := id.Compare(s.Last)
	switch {
	case length == 0 && last < 1, last == 0:
		return s.Added, true
	case last > 0:
		return 0, false
	case !s.MaxDeleted.IsZero() && s.MaxDeleted.Compare(s.First) >= 0:
		return 0, false
	}
	switch first := id.Compare(s.First); {
	case first < 0:
		return s.Added - length, true
	case first == 0:
		return s.Added - length + 1, true
	}
	return 0, false
}

// removedFrom tells that an entry at an ID, or behind it, was removed by itself from among
// those that there are.
func (s *Stream) removedFrom(id ID) bool {
	return s.v.Count > 0 && !s.MaxDeleted.IsZero() && s.First.Compare(s.MaxDeleted) <= 0 && id.Compare(s.MaxDeleted) <= 0
}

// Advance notes that the entry with an ID was delivered: if it is behind the newest that was.
func (g *Group) Advance(id ID) {
	if id.Compare(g.Last) <= 0 {
		return
	}
	switch {
	case g.Read != UnknownRead && !g.s.removedFrom(id):
		g.Read++
	case g.s.Added > 0:
		g.Read = UnknownRead
		if n, ok := g.s.numberOf(id); ok {
			g.Read = int64(n)
		}
	}
	g.Last, g.changed = id, true
}

// Lag returns how many entries the group has not come to yet; false if that is not known.
func (g *Group) Lag() (n int64, ok bool) {
	s := g.s
	switch {
	case s.Added == 0:
		return 0, true
	case g.Read != UnknownRead && !s.removedFrom(g.Last):
		return int64(s.Added) - g.Read, true
	}
	read, ok := s.numberOf(g.Last)
	return int64(s.Added - read), ok
}
