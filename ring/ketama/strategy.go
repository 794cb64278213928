package ketama

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// Name of the strategy.
const Name = "ketama"

// Bounds of [Config.Points], and what it is by default: that of both originals.
const (
	DefaultPoints = 160
	MaxPoints     = 4096
)

// Errors of a [Config].
var (
	// ErrPoints: the points a server are not a multiple of 4 from 4 to MaxPoints.
	ErrPoints = errors.New("bad number of points")
	// ErrRule: there is no such rule.
	ErrRule = errors.New("unknown ketama rule")
)

// Config of a [Strategy].
type Config struct {
	// Points of a server of mean weight, a multiple of 4 since one MD5 is four of
	// them; 0 is DefaultPoints.
	Points int
	// Rule is whose rounding to follow; empty is Libketama.
	Rule Rule
	// Slots places keys by their Redis Cluster slot.
	Slots bool
}

// Strategy implements [ring.Strategy]. The zero Strategy is not usable; see [New].
type Strategy struct {
	points int
	rule   Rule
	slots  bool
}

// New makes a strategy. Its error joins every fault of the configuration.
func New(cfg Config) (*Strategy, error) {
	s := &Strategy{points: cmp.Or(cfg.Points, DefaultPoints), rule: cmp.Or(cfg.Rule, Libketama), slots: cfg.Slots}
	var faults []error
	if s.points < 4 || s.points > MaxPoints || s.points%4 != 0 {
		faults = append(faults, fmt.Errorf("%w: %d is not a multiple of 4 from 4 to %d", ErrPoints, s.points, MaxPoints))
	}
	if !slices.Contains(Rules(), s.rule) {
		faults = append(faults, fmt.Errorf("%w: %.40q: use %s or %s", ErrRule, string(s.rule), Libketama, Twemproxy))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
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

// Desired implements [ring.Strategy]. A server that rounding leaves without points
// owns nothing and backs nothing, as in the originals, so that there may be fewer
// copies than members would allow.
func (s *Strategy) Desired(in ring.Input) (*ring.Placement, error) {
	servers, err := s.servers(in.Check())
	if err != nil {
		return nil, err
	}
	nodes, sum := make([]string, len(servers)), 0
	for i := range servers {
		nodes[i] = servers[i].id
		sum += 4 * servers[i].groups
	}
	if err := in.CheckPoints(sum); err != nil {
		return nil, err
	}
	c := ring.NewContinuum(nodes)
	c.InZones(in.Members)
	for i := range servers {
		for p := range servers[i].points() {
			c.Add(i, p)
		}
	}
	return ring.Succeed(in.Present, c.Rows(in.Copies(), s.slots))
}

// Points returns the points of each member, ordered; of some members there may be
// none. Its errors are those of Desired.
func (s *Strategy) Points(members []ring.Member) (map[string][]ring.Token, error) {
	servers, err := s.servers(ring.SortedMembers(members))
	if err != nil {
		return nil, err
	}
	all := make(map[string][]ring.Token, len(servers))
	for i := range servers {
		all[servers[i].id] = slices.Sorted(servers[i].points())
	}
	return all, nil
}
