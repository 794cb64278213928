package ringtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// A Suite is a strategy and what it promises beyond what all do.
type Suite struct {
	Strategy ring.Strategy
	// Slots reports that tokens are Redis Cluster slots.
	Slots bool
	// Promotes reports that a change may make another survivor the primary of what
	// both hold, which moves no data.
	Promotes bool
	// Reshuffles tells whether a change of members may move data between survivors:
	// ketama's rounding. Nil is never.
	Reshuffles func(before, after []ring.Member) bool
	// Pointless tells which members own nothing by the strategy's own arithmetic.
	// Nil is none.
	Pointless func(members []ring.Member) map[string]bool
	// Short is for placements of thousands of ranges: each test takes a quarter of its steps, with one
	// number of backups and with or without weights, drawn anew.
	Short bool
	// MaxToMean bounds the tokens that one of n nodes serves, as a multiple of its
	// share by weight. Weights are from 0.5 to 2.
	MaxToMean func(n int) float64
}

// Run runs the whole suite. Members are random; the seed is in the log.
func (s Suite) Run(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *history)
	}{
		{"every placement is whole", s.wholeness},
		{"the order of members does not matter", s.order},
		{"what stays moves nothing", s.idempotence},
		{"a join gives only to the joiner", s.joins},
		{"a leave takes only from the leaver", s.leaves},
		{"several changes at once", s.changes},
		{"a crash promotes those who have a copy", s.crashes},
		{"load is even within bounds", s.balance},
	} {
		t.Run(test.name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rnd := rand.New(rand.NewPCG(seed, 0))
			only := -1
			if s.Short {
				only = rnd.IntN(6)
			}
			for i, weighted := range []bool{false, true} {
				for backups := range 3 {
					if only >= 0 && only != 3*i+backups {
						continue
					}
					test.run(t, &history{suite: s, t: t, rnd: rnd, weighted: weighted, backups: backups})
				}
			}
		})
	}
	t.Run("hash tags", s.hashTags)
	t.Run("bad input", s.badInput)
}

// steps is how many of n steps a test takes.
func (s Suite) steps(n int) int {
	if s.Short {
		return (n + 3) / 4
	}
	return n
}

// A history is a cluster through its changes.
type history struct {
	suite    Suite
	t        *testing.T
	rnd      *rand.Rand
	weighted bool
	backups  int
	named    int
	members  []ring.Member
	present  *ring.Placement
}

func (h *history) weight() float64 {
	if h.weighted {
		return math.Exp2(2*h.rnd.Float64() - 1)
	}
	return 1
}

// join adds n members and returns their ids.
func (h *history) join(n int) map[string]bool {
	ids := make(map[string]bool, n)
	h.members = append([]ring.Member(nil), h.members...)
	for range n {
		h.named++
		id := fmt.Sprintf("10.0.%d.%d:6379", h.rnd.IntN(256), h.named)
		ids[id] = true
		h.members = append(h.members, ring.Member{ID: id, Weight: h.weight()})
	}
	return ids
}

// leave takes n members away, but never the last, and returns their ids.
func (h *history) leave(n int) map[string]bool {
	ids := make(map[string]bool, n)
	h.members = append([]ring.Member(nil), h.members...)
	for range min(n, len(h.members)-1) {
		i := h.rnd.IntN(len(h.members))
		ids[h.members[i].ID] = true
		h.members = append(h.members[:i], h.members[i+1:]...)
	}
	return ids
}

func (h *history) input() ring.Input {
	return ring.Input{Members: h.members, Backups: h.backups, Present: h.present}
}

// settle takes the cluster to its desired placement, checks it and returns the one
// before.
func (h *history) settle() (before *ring.Placement) {
	h.t.Helper()
	before = h.present
	p, err := h.suite.Strategy.Desired(h.input())
	if err != nil {
		h.t.Fatalf("%d nodes, %d backups: %v", len(h.members), h.backups, err)
	}
	h.checkWhole(p)
	h.checkEpochs(before, p)
	h.present = p
	return before
}
