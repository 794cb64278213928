package vnode

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/ring"
)

// Name of the strategy.
const Name = "vnode"

// Bounds of a node's points, and how many it has by default.
const (
	DefaultVNodes = 4
	MaxVNodes     = 1 << 16
)

// ErrVNodes of a [Config]: the number is not one from 1 to MaxVNodes.
var ErrVNodes = errors.New("bad number of virtual nodes")

// Config of a [Strategy].
type Config struct {
	// VNodes is how many points a node of weight 1 has; 0 is DefaultVNodes.
	VNodes int
	// Slots places keys by their Redis Cluster slot.
	Slots bool
}

// Strategy implements [ring.Strategy]. The zero Strategy is not usable; see [New].
type Strategy struct {
	vnodes int
	slots  bool
}

// New makes a strategy.
func New(cfg Config) (*Strategy, error) {
	s := &Strategy{vnodes: cmp.Or(cfg.VNodes, DefaultVNodes), slots: cfg.Slots}
	if s.vnodes < 1 || s.vnodes > MaxVNodes {
		return nil, fmt.Errorf("%w: %d is not from 1 to %d", ErrVNodes, s.vnodes, MaxVNodes)
	}
	return s, nil
}

// Name implements [ring.Strategy].
func (s *Strategy) Name() string { return Name }

// Token implements [ring.Strategy].
func (s *Strategy) Token(key []byte) ring.Token {
	if s.slots {
		return ring.SlotToken(key)
	}
	return Token(key)
}

// Desired implements [ring.Strategy]. Of equal points, pinned or not, the smaller id
// owns.
func (s *Strategy) Desired(in ring.Input) (*ring.Placement, error) {
	members, err := in.Check()
	sizes, sizeErr := s.sizes(members)
	if err := errors.Join(err, sizeErr); err != nil {
		return nil, err
	}
	nodes, sum := make([]string, len(members)), 0
	for i, m := range members {
		nodes[i] = m.ID
		sum += sizes[i]
	}
	if err := in.CheckPoints(sum); err != nil {
		return nil, err
	}
	c := ring.NewContinuum(nodes)
	c.InZones(members)
	for i, m := range members {
		for _, p := range s.points(m, sizes[i]) {
			c.Add(i, p)
		}
	}
	return ring.Succeed(in.Present, c.Rows(in.Copies(), s.slots))
}

// Points returns the points of each member, ordered. Its errors are those of
// Desired.
func (s *Strategy) Points(members []ring.Member) (map[string][]ring.Token, error) {
	members, err := ring.SortedMembers(members)
	sizes, sizeErr := s.sizes(members)
	if err := errors.Join(err, sizeErr); err != nil {
		return nil, err
	}
	all := make(map[string][]ring.Token, len(members))
	for i, m := range members {
		points := s.points(m, sizes[i])
		slices.Sort(points)
		all[m.ID] = points
	}
	return all, nil
}

// sizes is how many points each member has, its pinned ones included.
func (s *Strategy) sizes(members []ring.Member) ([]int, error) {
	var faults []error
	sizes, sum := make([]int, len(members)), 0
	for i, m := range members {
		own := 0.0
		if !m.OnlyPins {
			own = max(1, math.Round(float64(s.vnodes)*m.Weight))
		}
		// Also not a number, which is a fault of the weight and told as such.
		if n := own + float64(len(m.Pins)); n <= MaxVNodes {
			sizes[i] = int(n)
			sum += sizes[i]
		} else if m.Weight <= ring.MaxWeight {
			faults = append(faults, fmt.Errorf("%w: %.300q has %d × %v and %d pinned ones, %d are allowed",
				ring.ErrPoints, m.ID, s.vnodes, m.Weight, len(m.Pins), MaxVNodes))
		}
	}
	if len(faults) == 0 {
		return sizes, ring.CheckPoints(sum)
	}
	return nil, errors.Join(faults...)
}

// points returns the size points of a member: those that follow from its id, then
// the pinned ones.
func (s *Strategy) points(m ring.Member, size int) []ring.Token {
	points := make([]ring.Token, 0, size)
	name := append([]byte(m.ID), '|')
	for i := range size - len(m.Pins) {
		points = append(points, ring.Token(hash(strconv.AppendInt(name, int64(i), 10))^signBit))
	}
	return append(points, m.Pins...)
}
