package buckets

import (
	"cmp"
	"slices"
)

// electPrimaries chooses among the holders of each bucket the one that serves it, so
// that the primaries of the members are as near to their shares as the copies allow:
// the sum of the squares of what is above or below them is the least possible.
//
// That sum is separable and convex and primaries are a flow, so it is the least as
// soon as no path of promotions leads from a member to another that is more than one
// below it. With equal weights all are then within one of each other: a member with
// t of the copies can always serve the floor or the ceiling of t ÷ copies, since
// serving an equal part of each of its buckets is a flow within those bounds, and
// flows with whole bounds can be whole.
func (b *balance) electPrimaries() {
	b.keepPrimaries()
	holds := b.bucketsByMember()
	b.even(holds, true)
	b.even(holds, false)
}

// keepPrimaries begins with the primaries as they are. Where one is gone the first
// backup that is left takes over; where nobody has a copy, whoever serves the least
// of those who get one.
func (b *balance) keepPrimaries() {
	var open []int32
	for _, i := range b.order {
		this := &b.all[i]
		serve := int32(gone)
		switch {
		case this.was != gone && slices.Contains(this.holders, this.was):
			serve = this.was
		case this.primary != gone && slices.Contains(this.holders, this.primary):
			serve = this.primary // it received the copy of the one before
		default:
			for _, m := range this.had {
				if slices.Contains(this.holders, m) {
					serve = m
					break
				}
			}
		}
		if serve == gone {
			open = append(open, i)
			continue
		}
		this.primary = serve
		b.serves[serve]++
	}
	for _, i := range open {
		this := &b.all[i]
		this.primary = this.holders[0]
		for _, m := range this.holders[1:] {
			if b.above(m) < b.above(this.primary) {
				this.primary = m
			}
		}
		b.serves[this.primary]++
	}
}

// above is how many buckets more than its share a member serves.
func (b *balance) above(m int32) float64 { return float64(b.serves[m]) - b.share[m] }

// even promotes along shortest paths as long as that evens anything. With onlyNew it
// promotes only copies that are on their way anyhow, which costs nothing.
func (b *balance) even(holds [][]int32, onlyNew bool) {
	order := make([]int32, len(b.members))
	for m := range order {
		order[m] = int32(m)
	}
	for changed := true; changed; {
		changed = false
		slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(b.above(y), b.above(x)) })
		for _, m := range order {
			for b.promote(holds, m, onlyNew) {
				changed = true
			}
		}
	}
}

// promote takes one primary from a member, over as few others as possible, to one
// that serves more than one less, measured by their shares.
func (b *balance) promote(holds [][]int32, from int32, onlyNew bool) bool {
	lowest := b.above(from)
	for m := range b.members {
		lowest = min(lowest, b.above(int32(m)))
	}
	if !b.uneven(from, lowest) {
		return false
	}
	via := make([]int32, len(b.members)) // the bucket by which a member is reached
	for m := range via {
		via[m] = gone
	}
	queue := []int32{from}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		for _, i := range holds[u] {
			this := &b.all[i]
			if this.primary != u {
				continue
			}
			for _, v := range this.holders {
				if v == from || via[v] != gone || onlyNew && slices.Contains(this.had, v) {
					continue
				}
				via[v] = i
				if b.uneven(from, b.above(v)) {
					b.follow(via, from, v)
					return true
				}
				queue = append(queue, v)
			}
		}
	}
	return false
}

func (b *balance) uneven(from int32, above float64) bool {
	return b.above(from)-above > 1+1e-9
}

// follow promotes along a path, from its end.
func (b *balance) follow(via []int32, from, to int32) {
	b.serves[from]--
	b.serves[to]++
	for to != from {
		this := &b.all[via[to]]
		this.primary, to = to, this.primary
	}
}
