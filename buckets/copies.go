package buckets

import (
	"cmp"
	"slices"
)

// moveCopies brings every member to its total and every bucket to its copies, with
// as few copies moved as there can be.
//
// It is a flow: members with too many buckets and buckets with too few copies are
// the sources, members with too few the sinks. Each sink must receive what it lacks,
// so a flow that moves no copy twice is the cheapest of its amount. The first two
// steps make such a flow as large as they can, and almost always it is complete;
// augment adds what is missing at the least cost, and improve looks whether another
// choice of members with the floor and with the ceiling would be cheaper.
func (b *balance) moveCopies() {
	b.dropExcess()
	b.regain()
	t := newTakers(b)
	b.fillMissing(t)
	b.unloadFull(t)
	for b.augment() {
	}
	b.cheapen()
	for b.improve() {
	}
	b.fillRest()
}

// dropExcess takes copies away where there are more than wanted, from those that
// have the most above their total, and from the primary last.
func (b *balance) dropExcess() {
	for _, i := range b.order {
		this := &b.all[i]
		for len(this.holders) > b.copies {
			at := 0
			for j, m := range this.holders {
				best := this.holders[at]
				surplus, most := b.held[m]-b.totals[m], b.held[best]-b.totals[best]
				if best == this.was || m != this.was && surplus >= most {
					at = j
				}
			}
			b.held[this.holders[at]]--
			this.holders = slices.Delete(this.holders, at, at+1)
		}
	}
}

// fillMissing gives the copies that buckets lack to those who lack the most.
func (b *balance) fillMissing(t *takers) {
	for copies := 1; copies <= b.copies; copies++ { // those without any copy first
		for _, i := range b.order {
			this := &b.all[i]
			if len(this.holders) >= copies {
				continue
			}
			if to, ok := t.pick(this.holders, gone, b.mixed(i, int32(copies))); ok {
				b.give(i, gone, to)
				t.took(to)
			}
		}
	}
}

// unloadFull lets those who have too many give to those who have too few: primaries
// as far as the giver serves more than its share and the takers less, so that
// nothing has to be promoted afterwards; otherwise backups.
func (b *balance) unloadFull(t *takers) {
	holds := b.bucketsByMember()
	served := make([]float64, len(b.members)) // more than the share
	for i := range served {
		served[i] = -b.share[i]
	}
	for i := range b.all {
		if was := b.all[i].was; was != gone {
			served[was]++
		}
	}
	var wanted float64 // primaries, by the takers
	var givers []int32
	for m := range b.members {
		if b.held[m] > b.totals[m] {
			givers = append(givers, int32(m))
		} else if t.lack(int32(m)) > 0 {
			wanted += max(0, -served[m])
		}
	}
	slices.SortStableFunc(givers, func(x, y int32) int { return cmp.Compare(served[y], served[x]) })
	for _, from := range givers {
		// Each in an order of its own: if all gave the same buckets, the takers would
		// share these as the givers did, and none could stand in for the other.
		slices.SortFunc(holds[from], func(i, j int32) int {
			return cmp.Or(cmp.Compare(b.mixed(i, from), b.mixed(j, from)), cmp.Compare(i, j))
		})
		primaries := 0
		for served[from]-float64(primaries) > 0.5 && float64(primaries)+0.5 < wanted &&
			primaries < b.held[from]-b.totals[from] {
			primaries++
		}
		backups := b.held[from] - b.totals[from] - primaries
		give := func(i int32, count *int) {
			this := &b.all[i]
			if *count == 0 || !slices.Contains(this.holders, from) {
				return
			}
			to, ok := t.pick(this.holders, from, b.mixed(i, ^from))
			if !ok {
				return
			}
			b.give(i, from, to)
			t.took(to)
			*count--
			if this.was == from {
				this.primary = to
				wanted--
			}
		}
		for _, i := range holds[from] {
			if b.all[i].was == from {
				give(i, &primaries)
			} else {
				give(i, &backups)
			}
		}
		if left := primaries + backups; left > 0 {
			for _, i := range holds[from] {
				give(i, &left)
			}
		}
	}
}

// bucketsByMember lists the buckets of each member, in the mixed order.
func (b *balance) bucketsByMember() [][]int32 {
	holds := make([][]int32, len(b.members))
	for m := range holds {
		holds[m] = make([]int32, 0, b.held[m])
	}
	for _, i := range b.order {
		for _, m := range b.all[i].holders {
			holds[m] = append(holds[m], i)
		}
	}
	return holds
}
