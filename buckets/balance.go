package buckets

import (
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// gone stands in the place of a member that there is none of.
const gone = -1

// A bucket is on its way from the placement as it is to the desired one. Nodes are
// places in balance.members.
type bucket struct {
	Hashmask
	was     int32   // the primary as it is, gone if it is no member
	had     []int32 // the members with a copy: the primary, then as they take over
	holders []int32 // the members that are to have one
	primary int32   // the one of them that is to serve
}

// balance works out which copies move and which member serves what. It is made for one
// decision and used by one goroutine.
type balance struct {
	members []ring.Member
	copies  int
	all     []bucket
	order   []int32 // the buckets, well mixed: neighbours should not lie on one node
	zoning

	held   []int     // how many buckets each member is to have, as moves go by
	quotas           // how many it should have in the end
	serves []int     // of how many each is the primary
	share  []float64 // of how many it should be, not rounded
}

func newBalance(members []ring.Member, all []bucket, in ring.Input) *balance {
	n, copies := len(members), in.Copies()
	b := &balance{
		members: members, copies: copies, all: all, zoning: newZoning(members, copies),
		held: make([]int, n), serves: make([]int, n), share: make([]float64, n),
	}
	for i := range all {
		if b.zone != nil {
			all[i].holders = b.first(all[i].holders, len(all[i].holders))
		}
		for _, m := range all[i].holders {
			b.held[m]++
		}
	}
	weights := 0.0
	for _, m := range members {
		weights += m.Weight
	}
	shift := newShift(members, all, in.Overrides)
	exact := ring.Quotas(members, copies)
	for i, m := range members {
		b.share[i] = float64(len(all))*m.Weight/weights + float64(shift.serves[i])
		exact[i] *= float64(len(all))
	}
	shift.apply(exact, len(all))
	b.quotas = newQuotas(exact, b.held, len(all)*copies, b.room(len(all)))

	b.order = make([]int32, len(all))
	for i := range all {
		b.order[i] = int32(i)
	}
	slices.SortFunc(b.order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(b.mixed(i, gone), b.mixed(j, gone)), cmp.Compare(i, j))
	})
	return b
}

// mixed is chance that is the same everywhere: a number that depends on a bucket and
// a salt.
func (b *balance) mixed(i, salt int32) uint32 {
	return mix(b.all[i].ID, b.all[i].Mask^uint32(salt)*0x85ebca77)
}

// mix is the finalizer of murmur3 over two numbers.
func mix(a, b uint32) uint32 {
	h := a*0x9e3779b1 ^ b
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// give takes a bucket to another member, from one that has it or, if from is gone,
// as a copy that was missing.
func (b *balance) give(i int32, from, to int32) {
	holders := &b.all[i].holders
	if from == gone {
		*holders = append(*holders, to)
	} else {
		(*holders)[slices.Index(*holders, from)] = to
		b.held[from]--
	}
	b.held[to]++
}

// rows are the desired placement.
func (b *balance) rows() []ring.Row {
	rows := make([]ring.Row, len(b.all))
	names := make([]string, 0, len(b.all)*(b.copies-1))
	for i := range b.all {
		this := &b.all[i]
		at := len(names)
		for _, m := range this.had {
			if m != this.primary && slices.Contains(this.holders, m) {
				names = append(names, b.members[m].ID)
			}
		}
		slices.Sort(this.holders)
		for _, m := range this.holders {
			if m != this.primary && !slices.Contains(this.had, m) {
				names = append(names, b.members[m].ID)
			}
		}
		rows[i] = ring.Row{
			Range:   this.Range(),
			Primary: b.members[this.primary].ID,
			Backups: names[at:len(names):len(names)],
		}
	}
	return rows
}
