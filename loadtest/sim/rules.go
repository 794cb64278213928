package sim

import (
	"cmp"
	"slices"

	"github.com/DmitriyVTitov/size"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/cells"
)

// A rule finds the nodes of a key by its hash, for contenders without ranges. It never changes.
type rule interface {
	// next is the rule after a change to other members, which are in the order in which they joined
	// and have numbers. It returns an error if there are too many.
	next(members []ring.Member, numbers []int32) (rule, error)
	// finder returns a function that finds so many nodes of a key, for use by one goroutine.
	finder(copies int) (finder, error)
	// bytes is the memory that a client needs: 0 copies are the placement alone, more also what it
	// takes to find so many nodes of a key.
	bytes(copies int) int
}

// A finder appends the numbers of a key's nodes, the primary first.
type finder func(hash uint64, to []int32) []int32

// newRule is the rule of a yardstick, without nodes: only next may be called.
func newRule(e *entry) rule {
	if e.algorithm != nil {
		return byAlgorithm{algorithm: e.algorithm}
	}
	return byMod{}
}

// byMod is hash mod n over the list of nodes in the order in which they joined; the
// backups are the next in the list.
type byMod struct {
	members []ring.Member
	numbers []int32
}

func (byMod) next(members []ring.Member, numbers []int32) (rule, error) {
	return byMod{members, numbers}, nil
}

func (m byMod) finder(copies int) (finder, error) {
	return func(hash uint64, to []int32) []int32 {
		// The hash is mixed well enough for its upper half to do, which divides in half the time.
		at := int(uint32(hash>>32) % uint32(len(m.numbers)))
		for range copies {
			to = append(to, m.numbers[at])
			if at++; at == len(m.numbers) {
				at = 0
			}
		}
		return to
	}, nil
}

// bytes is the memory of a list of nodes.
func (m byMod) bytes(int) int {
	const stringBytes = 16
	n := 0
	for _, member := range m.members {
		n += stringBytes + len(member.ID)
	}
	return n
}

// byAlgorithm asks an algorithm for the hash of each key, as papers do, where a strategy asks it for
// the hash of each cell.
type byAlgorithm struct {
	algorithm *cells.Strategy
	members   []ring.Member // by id
	numbers   []int32
	seats     *ring.Seats
}

func (a byAlgorithm) next(members []ring.Member, numbers []int32) (rule, error) {
	after := byAlgorithm{algorithm: a.algorithm}
	for _, i := range orderByID(members) {
		after.members, after.numbers = append(after.members, members[i]), append(after.numbers, numbers[i])
	}
	var err error
	_, after.seats, err = a.algorithm.Choose(after.members, a.seats)
	return after, err
}

func (a byAlgorithm) finder(copies int) (finder, error) {
	chooser, _, err := a.algorithm.Choose(a.members, a.seats)
	if err != nil {
		return nil, err
	}
	var chosen []int
	return func(hash uint64, to []int32) []int32 {
		chosen = chooser.Choose(hash, copies, chosen[:0])
		for _, n := range chosen {
			to = append(to, a.numbers[n])
		}
		return to
	}, nil
}

func (a byAlgorithm) bytes(copies int) int {
	chooser, _, err := a.algorithm.Choose(a.members, a.seats)
	if err != nil {
		return 0
	}
	const usual = 64 // keys after which it has made room for its work
	for i := uint64(0); copies > 0 && i < usual; i++ {
		chooser.Choose(mix(i+1), copies, nil)
	}
	return size.Of(chooser)
}

// orderByID are the indices of members, in the order of their ids.
func orderByID(members []ring.Member) []int {
	order := make([]int, len(members))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(members[a].ID, members[b].ID) })
	return order
}
