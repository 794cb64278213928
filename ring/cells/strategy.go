package cells

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/ringside-kv/ringside/ring"
)

// Cells is how many cells the circle has.
const Cells = 1 << cellBits

const cellBits = 14

// cellSize is how many tokens a cell has.
const cellSize = 1 << (32 - cellBits)

// ErrChoice says that an algorithm named too few nodes, one that does not exist, or one twice.
var ErrChoice = errors.New("bad choice of nodes")

// A Node is a member as an algorithm sees it.
type Node struct {
	ID     string
	Weight float64 // above 0; 1 is usual
	Hash   uint64  // of the id
}

// An Algorithm prepares to choose among nodes, which are ordered by id and at least one. Its answer
// depends on nothing else.
type Algorithm func(nodes []Node) (Chooser, error)

// A SeatAlgorithm is an algorithm whose answer also depends on the order in which nodes came and left,
// and on nothing else.
type SeatAlgorithm func(nodes []Node, seats Seats) (Chooser, error)

// Seats are the numbered places of nodes.
type Seats struct {
	// Nodes are the indexes of the nodes by number; -1 where the node has left.
	Nodes []int
	// Free are the numbers whose nodes have left, in that order.
	Free []int
}

// A Chooser chooses among the nodes that its algorithm was given. It is used by one goroutine, which
// asks once for each cell, in the order of the cells: so an algorithm may count what it has given to
// whom.
type Chooser interface {
	// Choose appends to chosen the indexes of n distinct nodes for a hash, in the order in which they
	// should keep its keys: the primary first, then the backups. n is at least 1 and at most the
	// number of nodes.
	Choose(hash uint64, n int, chosen []int) []int
}

// Strategy implements [ring.Strategy] by an [Algorithm] or a [SeatAlgorithm]. The zero Strategy is not
// usable; see [New] and [NewSeated].
type Strategy struct {
	name      string
	algorithm Algorithm     // or
	seated    SeatAlgorithm // this
	slots     bool
}

// New makes a strategy of an algorithm. With slots, keys are placed by their Redis Cluster slot.
func New(name string, a Algorithm, slots bool) *Strategy {
	return &Strategy{name: name, algorithm: a, slots: slots}
}

// NewSeated makes a strategy of an algorithm with seats, which its placements carry.
func NewSeated(name string, a SeatAlgorithm, slots bool) *Strategy {
	return &Strategy{name: name, seated: a, slots: slots}
}

// Choose prepares to choose among members, which must be valid and ordered by id. present are the
// seats before these members, and the result those with them; both are nil without a [SeatAlgorithm].
func (s *Strategy) Choose(members []ring.Member, present *ring.Seats) (Chooser, *ring.Seats, error) {
	nodes := nodesOf(members)
	if s.seated == nil {
		c, err := s.algorithm(nodes)
		return c, nil, err
	}
	after := present.With(members)
	index := make(map[string]int, len(members))
	for i, m := range members {
		index[m.ID] = i
	}
	seats := Seats{Nodes: make([]int, len(after.Nodes)), Free: after.Free}
	for number, node := range after.Nodes {
		seats.Nodes[number] = -1
		if node != "" {
			seats.Nodes[number] = index[node]
		}
	}
	c, err := s.seated(nodes, seats)
	return c, after, err
}

func nodesOf(members []ring.Member) []Node {
	nodes := make([]Node, len(members))
	for i, m := range members {
		nodes[i] = Node{ID: m.ID, Weight: m.Weight, Hash: xxhash.Sum64String(m.ID)}
	}
	return nodes
}

// Name implements [ring.Strategy].
func (s *Strategy) Name() string { return s.name }

// Token implements [ring.Strategy].
func (s *Strategy) Token(key []byte) ring.Token {
	if s.slots {
		return ring.SlotToken(key)
	}
	return Token(key)
}

// Token is the [ring.TokenFunc] of all strategies made of cells: the upper half of the XXH64 of the
// hash tag.
func Token(key []byte) ring.Token { return ring.Token(xxhash.Sum64(ring.HashTag(key)) >> 32) }

// Desired implements [ring.Strategy].
func (s *Strategy) Desired(in ring.Input) (*ring.Placement, error) {
	members, err := in.Check()
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if len(m.Pins) > 0 {
			return nil, fmt.Errorf("%w: %.300q: strategy %s has no points", ring.ErrPins, m.ID, s.name)
		}
	}
	chooser, seats, err := s.Choose(members, in.Present.Seats())
	if err != nil {
		return nil, fmt.Errorf("strategy %s: %w", s.name, err)
	}
	copies := in.Copies()
	owners := make([]int, 0, Cells*copies)
	zoned := newZoned(members)
	for cell := range Cells {
		at := len(owners)
		owners = chooser.Choose(mix(uint64(cell)), copies, owners)
		if err := checkChoice(owners[at:], copies, len(members)); err != nil {
			return nil, fmt.Errorf("strategy %s, cell %d: %w", s.name, cell, err)
		}
		if zoned != nil {
			zoned.spread(mix(uint64(cell)), owners[at:])
		}
	}
	p, err := ring.Succeed(in.Present, rowsOf(members, owners, copies))
	if err != nil {
		return nil, err
	}
	return p.WithSeats(seats), nil
}

// checkChoice keeps the mistake of an algorithm from becoming a placement.
func checkChoice(chosen []int, copies, nodes int) error {
	if len(chosen) != copies {
		return fmt.Errorf("%w: %d nodes instead of %d", ErrChoice, len(chosen), copies)
	}
	for i, n := range chosen {
		if n < 0 || n >= nodes || slices.Contains(chosen[:i], n) {
			return fmt.Errorf("%w: %v of %d nodes", ErrChoice, chosen, nodes)
		}
	}
	return nil
}

// rowsOf makes ranges of neighbouring cells with the same owners.
func rowsOf(nodes []ring.Member, owners []int, copies int) []ring.Row {
	var rows []ring.Row
	var last []int
	for cell := range Cells {
		of := owners[cell*copies : (cell+1)*copies]
		start := ring.Token(cell * cellSize)
		end := start + cellSize // 0 after the last cell
		if len(rows) > 0 && slices.Equal(of, last) {
			rows[len(rows)-1].Range.End = end
			continue
		}
		row := ring.Row{Range: ring.Range{Start: start, End: end}, Primary: nodes[of[0]].ID}
		for _, n := range of[1:] {
			row.Backups = append(row.Backups, nodes[n].ID)
		}
		rows, last = append(rows, row), of
	}
	if n := len(rows) - 1; n > 0 && slices.Equal(last, owners[:copies]) {
		rows[n].Range.End = rows[0].Range.End
		rows = rows[1:]
	}
	if len(rows) == 1 {
		rows[0].Range = ring.Whole
	}
	return rows
}
