package sim

import (
	"cmp"
	"slices"

	"github.com/DmitriyVTitov/size"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/cells"
)

// byMod is hash mod n over the list of nodes in the order in which they joined; the
// backups are the next in the list.
type byMod struct {
	script  *script
	backups int
	now     []int32
}

func (m *byMod) turn(scene, workers int) ([]finder, error) {
	nodes := m.script.scenes[scene].places
	m.now = nodes
	copies := min(m.backups+1, len(nodes))
	find := func(hash uint64, to []int32) []int32 {
		// The hash is mixed well enough for its upper half to do, which divides in half the time.
		at := int(uint32(hash>>32) % uint32(len(nodes)))
		for range copies {
			to = append(to, nodes[at])
			if at++; at == len(nodes) {
				at = 0
			}
		}
		return to
	}
	return slices.Repeat([]finder{find}, workers), nil
}

// bytes is the memory of a list of nodes.
func (m *byMod) bytes() int {
	const stringBytes = 16
	n := 0
	for _, place := range m.now {
		n += stringBytes + len(m.script.nodes[place])
	}
	return n
}

// byAlgorithm asks an algorithm for the hash of each key, as papers do, where a strategy asks it for
// the hash of each cell.
type byAlgorithm struct {
	script    *script
	algorithm *cells.Strategy
	backups   int
	seats     *ring.Seats
	chooser   cells.Chooser // one of those in use
}

func (a *byAlgorithm) turn(scene, workers int) ([]finder, error) {
	now := &a.script.scenes[scene]
	order := make([]int, len(now.members)) // by id
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(now.members[x].ID, now.members[y].ID) })
	members, places := make([]ring.Member, len(order)), make([]int32, len(order))
	for i, at := range order {
		members[i], places[i] = now.members[at], now.places[at]
	}
	copies := min(a.backups+1, len(members))
	finders := make([]finder, workers)
	for w := range finders {
		chooser, seats, err := a.algorithm.Choose(members, a.seats)
		if err != nil {
			return nil, err
		}
		a.seats = seats // the same for all workers
		a.chooser = chooser
		var chosen []int
		finders[w] = func(hash uint64, to []int32) []int32 {
			chosen = chooser.Choose(hash, copies, chosen[:0])
			for _, n := range chosen {
				to = append(to, places[n])
			}
			return to
		}
	}
	return finders, nil
}

func (a *byAlgorithm) bytes() int { return size.Of(a.chooser) }
