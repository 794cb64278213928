package buckets

import (
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// A stake is how much of a bucket a member has, in tokens.
type stake struct {
	member  int32
	held    int64 // as the primary or as a backup
	primary int64
}

// adopt makes buckets of a placement that does not consist of them, such as that of another
// strategy, with the least tokens copied. A member that has most of a bucket keeps it, as far as
// quotas allow.
func (s *Strategy) adopt(in ring.Input, members []ring.Member) *balance {
	var all []bucket
	for _, b := range s.founded() {
		all = s.cut(all, b, in.Present)
	}
	all = s.splitAll(all, len(members), in.Copies())
	all = s.splitOutgrown(all, in.Load)

	place := placesOf(members)
	stakes, zoning := make([][]stake, len(all)), newZoning(members, in.Copies())
	for i := range all {
		this := &all[i]
		stakes[i] = stakesIn(in.Present, this.Range(), place)
		most := int64(0)
		for _, st := range stakes[i] {
			this.had = append(this.had, st.member)
			if st.primary > most {
				this.was, most = st.member, st.primary
			}
		}
		this.holders = zoning.first(this.had, in.Copies())
	}
	b := newBalance(members, all, in)
	b.fillAny()
	newAdoption(b, stakes).run()
	return b
}

// cut appends a bucket, or its children where a range of the placement ends inside it.
func (s *Strategy) cut(all []bucket, b bucket, p *ring.Placement) []bucket {
	r := b.Range()
	row := p.Lookup(r.Start).Range
	if s.cfg.Anew || !b.canSplit(s.cfg.mostMask()) || row.Len()-uint64(r.Start-row.Start) >= r.Len() {
		return append(all, b)
	}
	for _, child := range b.split() {
		all = s.cut(all, child, p)
	}
	return all
}

// stakesIn returns what members have of a range, the largest first.
func stakesIn(p *ring.Placement, r ring.Range, place map[string]int32) []stake {
	var all []stake
	at, left := r.Start, int64(r.Len())
	for left > 0 {
		row := p.Lookup(at)
		n := min(left, int64(row.Range.Len()-uint64(at-row.Range.Start)))
		for node := range row.Copies() {
			m, ok := place[node]
			if !ok {
				continue
			}
			i := slices.IndexFunc(all, func(s stake) bool { return s.member == m })
			if i < 0 {
				i = len(all)
				all = append(all, stake{member: m})
			}
			all[i].held += n
			if node == row.Primary {
				all[i].primary += n
			}
		}
		at += ring.Token(n)
		left -= n
	}
	// Backups keep their order, in which they take over.
	slices.SortStableFunc(all, func(a, b stake) int {
		return cmp.Or(cmp.Compare(b.held, a.held), cmp.Compare(b.primary, a.primary))
	})
	return all
}

// fillAny gives buckets the copies that they lack, to any members.
func (b *balance) fillAny() {
	for i := range b.all {
		this := &b.all[i]
		for first := int(b.mixed(int32(i), gone)) % len(b.members); len(this.holders) < b.copies; first++ {
			if m := int32(first % len(b.members)); !b.bars(this.holders, gone, m) {
				b.give(int32(i), gone, m)
			}
		}
	}
}
