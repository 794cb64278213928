package ring

import (
	"fmt"
	"math"
	"slices"
)

// seatsPerWeight is how many seats a member of weight 1 has.
const seatsPerWeight = 4

// Seats are numbered places of nodes, for strategies whose placement depends on the order in which
// nodes came and left. A new node gets the seats that became free last, and then new ones. A Seats
// never changes; nil is the one before any node came.
type Seats struct {
	// Nodes are the nodes by number; empty where the node has left.
	Nodes []string
	// Free are the numbers whose nodes have left, in that order.
	Free []int
}

// With returns the seats after a change of the members, which must be valid and ordered by id. A
// member has seats in proportion to its weight, and at least one.
func (s *Seats) With(members []Member) *Seats {
	wanted := make(map[string]int, len(members))
	for _, m := range members {
		wanted[m.ID] = max(1, int(math.Round(m.Weight*seatsPerWeight)))
	}
	after := new(Seats)
	if s != nil {
		after.Nodes, after.Free = slices.Clone(s.Nodes), slices.Clone(s.Free)
	}
	var leave []int
	for number, node := range after.Nodes {
		switch {
		case node == "":
		case wanted[node] == 0:
			leave = append(leave, number)
		default:
			wanted[node]--
		}
	}
	// Those that leave together and return together get their own seats again.
	slices.SortStableFunc(leave, func(a, b int) int {
		if after.Nodes[a] != after.Nodes[b] {
			if after.Nodes[a] > after.Nodes[b] {
				return -1
			}
			return 1
		}
		return b - a
	})
	for _, number := range leave {
		after.Nodes[number] = ""
		after.Free = append(after.Free, number)
	}
	changed := len(leave) > 0
	for _, m := range members {
		for range wanted[m.ID] {
			changed = true
			if last := len(after.Free) - 1; last >= 0 {
				after.Nodes[after.Free[last]] = m.ID
				after.Free = after.Free[:last]
			} else {
				after.Nodes = append(after.Nodes, m.ID)
			}
		}
	}
	if !changed {
		return s
	}
	return after
}

// Validate checks seats that were read from bytes. Its error is [ErrSeats].
func (s *Seats) Validate() error {
	if len(s.Nodes) == 0 {
		return fmt.Errorf("%w: there are none", ErrSeats)
	}
	free := make(map[int]bool, len(s.Free))
	for _, number := range s.Free {
		if number < 0 || number >= len(s.Nodes) || s.Nodes[number] != "" || free[number] {
			return fmt.Errorf("%w: number %d is not free, or twice", ErrSeats, number)
		}
		free[number] = true
	}
	for number, node := range s.Nodes {
		if node == "" {
			if !free[number] {
				return fmt.Errorf("%w: number %d has no node and is not free", ErrSeats, number)
			}
			continue
		}
		if err := validateID(node); err != nil {
			return fmt.Errorf("%w: number %d: %w", ErrSeats, number, err)
		}
	}
	return nil
}

// Seats are those that the placement follows from; nil under strategies without seats.
func (p *Placement) Seats() *Seats {
	if p == nil {
		return nil
	}
	return p.seats
}

// WithSeats returns the placement with seats, which must not change any more.
func (p *Placement) WithSeats(s *Seats) *Placement {
	if p.seats == s {
		return p
	}
	with := *p
	with.seats = s
	return &with
}
