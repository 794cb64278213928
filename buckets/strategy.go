package buckets

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/ringside-kv/ringside/ring"
)

// Config is what the operator decides. Its zero value is the default.
type Config struct {
	// Mask is that of a new cluster; 0 is DefaultMask.
	Mask uint32
	// SplitUnder is the number of buckets, as primary or backup, that a node of mean
	// weight must not fall under: before that all buckets are split. 0 is 6.
	SplitUnder int
	// Anew has the buckets made from Mask whatever the present ones are, which may be narrower.
	// Without it present buckets are never merged.
	Anew bool
	// Slots makes the token of a key its Redis Cluster slot.
	Slots bool
}

const defaultSplitUnder = 6

// Validate reports every fault.
func (c Config) Validate() error {
	var faults []error
	if c.Mask != 0 {
		faults = append(faults, checkMask(c.Mask, c.mostMask()))
	}
	if c.SplitUnder < 0 {
		faults = append(faults, fmt.Errorf("the number of buckets to split under, %d, is negative", c.SplitUnder))
	}
	return errors.Join(faults...)
}

func (c Config) mostMask() uint32 {
	if c.Slots {
		return MaxSlotMask
	}
	return MaxMask
}

// Strategy is the [ring.Strategy] of buckets. Its desired placement follows from the
// present one: see DESIGN.md of this package.
type Strategy struct {
	cfg Config
}

var _ ring.Strategy = (*Strategy)(nil)

// New returns the strategy, or what is wrong with its Config.
func New(c Config) (*Strategy, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Mask == 0 {
		c.Mask = DefaultMask
	}
	if c.SplitUnder == 0 {
		c.SplitUnder = defaultSplitUnder
	}
	return &Strategy{cfg: c}, nil
}

// Name implements [ring.Strategy].
func (s *Strategy) Name() string { return "buckets" }

// Token implements [ring.Strategy].
func (s *Strategy) Token(key []byte) ring.Token {
	if s.cfg.Slots {
		return ring.SlotToken(key)
	}
	return Token(key)
}

// Desired implements [ring.Strategy]: the placement with the least copied buckets in
// which every node has its quota. Weights count relative to each other. The present placement
// may be one of another strategy. Members with pins are an error that wraps [ring.ErrPins].
func (s *Strategy) Desired(in ring.Input) (*ring.Placement, error) {
	members, err := in.Check()
	for _, m := range members {
		if len(m.Pins) > 0 {
			err = errors.Join(err, fmt.Errorf("%w: %s: buckets have no points", ring.ErrPins, m.ID))
		}
	}
	if err != nil {
		return nil, err
	}
	before := in.Present
	in.Present = projected(in)
	all, ok := s.founded(), true
	if in.Present != nil {
		all, ok = s.present(in.Present, members)
	}
	var b *balance
	if ok {
		all = s.splitAll(all, len(members), in.Copies())
		all = s.splitOutgrown(all, in.Load)
		b = newBalance(members, all, in)
		b.moveCopies()
	} else {
		b = s.adopt(in, members)
	}
	b.electPrimaries()
	return ring.Succeed(before, overridden(b.rows(), in))
}

// founded returns the buckets of a new cluster, of which no member has a copy.
func (s *Strategy) founded() []bucket {
	all := make([]bucket, 0, s.cfg.Mask+1)
	width := bits.Len32(s.cfg.Mask)
	for i := range s.cfg.Mask + 1 {
		id := bits.Reverse32(i) >> (32 - width)
		all = append(all, bucket{Hashmask: Hashmask{Mask: s.cfg.Mask, ID: id}, was: gone, primary: gone})
	}
	return all
}

// present returns the buckets of a placement with the members' copies of them. It reports false if
// the placement has other ranges, or if the buckets are to be made from the mask.
func (s *Strategy) present(p *ring.Placement, members []ring.Member) (all []bucket, ok bool) {
	if s.cfg.Anew {
		return nil, false
	}
	place := placesOf(members)
	all = make([]bucket, 0, p.Len())
	for row := range p.Rows() {
		mask, ok := ofRange(row.Range)
		if !ok || mask.Mask > s.cfg.mostMask() {
			return nil, false
		}
		b := bucket{Hashmask: mask, was: gone, primary: gone}
		for node := range row.Copies() {
			if i, ok := place[node]; ok {
				if node == row.Primary {
					b.was = i
				}
				b.had = append(b.had, i)
			}
		}
		b.holders = append(b.holders, b.had...)
		all = append(all, b)
	}
	return all, true
}

// placesOf numbers members, by id.
func placesOf(members []ring.Member) map[string]int32 {
	place := make(map[string]int32, len(members))
	for i, m := range members {
		place[m.ID] = int32(i)
	}
	return place
}
