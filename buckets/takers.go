package buckets

// takers are the members that lack buckets, kept by how many: those who lack the
// most come first, which is the order in which all can be served (the greedy
// construction of Gale and Ryser for matrices of given row and column sums).
type takers struct {
	lacks  []int // by member
	levels map[int][]int32
	place  []int // of a member in its level
	top    int   // the highest level with a member, 0 if there is none
	zoning
}

func newTakers(b *balance) *takers {
	n := len(b.members)
	t := &takers{lacks: make([]int, n), levels: make(map[int][]int32), place: make([]int, n), zoning: b.zoning}
	for m := range n {
		t.lacks[m] = b.totals[m] - b.held[m]
		t.enter(int32(m))
		t.top = max(t.top, t.lacks[m])
	}
	return t
}

func (t *takers) lack(m int32) int { return t.lacks[m] }

func (t *takers) enter(m int32) {
	if lack := t.lacks[m]; lack > 0 {
		t.place[m] = len(t.levels[lack])
		t.levels[lack] = append(t.levels[lack], m)
	}
}

// took counts a bucket that a member has received.
func (t *takers) took(m int32) {
	level := t.levels[t.lacks[m]]
	last := level[len(level)-1]
	level[t.place[m]] = last
	t.place[last] = t.place[m]
	t.levels[t.lacks[m]] = level[:len(level)-1]
	t.lacks[m]--
	t.enter(m)
	for t.top > 0 && len(t.levels[t.top]) == 0 {
		t.top--
	}
}

// pick finds a member that lacks the most and may have a copy in the place of from or,
// if that is gone, beside the holders. Of equals, chance decides, so that the buckets of
// one member have their other copies everywhere.
func (t *takers) pick(holders []int32, from int32, chance uint32) (int32, bool) {
	level := t.levels[t.top]
	for i := range level {
		m := level[(int(chance)+i)%len(level)]
		if !t.bars(holders, from, m) {
			return m, true
		}
	}
	best, found := int32(gone), false
	n := len(t.lacks)
	for i := range n {
		m := int32((int(chance) + i) % n)
		if t.lacks[m] > 0 && (!found || t.lacks[m] > t.lacks[best]) && !t.bars(holders, from, m) {
			best, found = m, true
		}
	}
	return best, found
}
