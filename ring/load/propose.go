package load

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// A Cluster is what a proposal follows from.
type Cluster struct {
	Members []ring.Member
	Present *ring.Placement
	// Profiles are those of all members, by id.
	Profiles map[string]*Profile
	// Overrides are those in force.
	Overrides []ring.Override
	// Whole says that only whole ranges can move, as under strategy buckets.
	Whole bool
}

// A Proposal is overrides that even the load.
type Proposal struct {
	// Overrides are to replace those in force.
	Overrides []ring.Override
	// Before and After are the load of the busiest node by its weight, as a multiple of the mean.
	Before, After float64
	// Busiest is the busiest node before.
	Busiest string
	// Moves are the ranges that go to another primary, Promotions those of them that the new primary
	// has a copy of.
	Moves, Promotions int
	// Bytes are to be copied, estimated.
	Bytes int64
	// Hottest is the range with the most load of those that alone have more than a node should, and
	// HottestShare its load as a multiple of the mean; 0 if there is none. It cannot be divided further.
	Hottest      ring.Range
	HottestShare float64
	// Loads are the loads of the members before and after, in operations a second, by id.
	Loads map[string]*NodeLoad
}

// A NodeLoad is the load on one node.
type NodeLoad struct{ Before, After float64 }

// Errors of a [Cluster].
var (
	// ErrUnknown: the load of a member is not known.
	ErrUnknown = errors.New("the load of a node is not known")
	// ErrIdle: there is next to nothing to even.
	ErrIdle = errors.New("there is no load to even")
)

const (
	// Aim is the ratio to the mean that a proposal brings the busiest node to.
	Aim = 1.15
	// leastCost is the load of all nodes, in operations a second, below which nothing is proposed.
	leastCost = 10
	// grain is the part of a mean node's load that a piece of a range should not exceed.
	grain = 1. / 128
	// window is the number of neighbouring pieces whose loads are compared.
	window = 64
)

// Propose returns the moves with the fewest copied bytes that bring every node to [Aim] times the mean, or as near as
// the ranges allow. It is greedy: from the busiest node go first the ranges that another node has a copy of,
// the largest load first, and then those with the most load per byte.
func Propose(c Cluster) (*Proposal, error) {
	members, err := ring.SortedMembers(c.Members)
	if err != nil {
		return nil, err
	}
	x := proposing{Cluster: c, members: members, at: make(map[string]int, len(members)), shares: shares(c.Present)}
	total, weights := 0.0, 0.0
	for i, m := range members {
		p := c.Profiles[m.ID]
		if p == nil {
			return nil, fmt.Errorf("%w: %s", ErrUnknown, m.ID)
		}
		cost := p.Total().Cost()
		x.at[m.ID], x.costs = i, append(x.costs, cost)
		total += cost
		weights += m.Weight
	}
	if total < leastCost {
		return nil, fmt.Errorf("%w: %.1f operations a second in all", ErrIdle, total)
	}
	x.mean, x.meanNode = total/weights, total/float64(len(members))
	p := &Proposal{Overrides: x.present(), Loads: make(map[string]*NodeLoad, len(members))}
	for i, m := range members {
		p.Loads[m.ID] = &NodeLoad{Before: x.costs[i]}
	}
	p.Before, p.Busiest = x.worst()
	x.p = p
	for range 2 * len(members) {
		if !x.relieve() {
			break
		}
	}
	p.After, _ = x.worst()
	for i, m := range members {
		p.Loads[m.ID].After = x.costs[i]
	}
	return p, ring.CheckOverrides(p.Overrides)
}

// proposing is a proposal that is being made.
type proposing struct {
	Cluster
	members []ring.Member
	at      map[string]int // member by id
	shares  map[string]*share
	costs   []float64 // of members, as moves go by
	mean    float64   // cost for a weight of 1
	done    map[int]bool
	p       *Proposal
	// meanNode is the cost of a node of mean weight.
	meanNode float64
}

// present returns the overrides in force whose nodes are members.
func (x *proposing) present() []ring.Override {
	return slices.DeleteFunc(slices.Clone(x.Overrides), func(o ring.Override) bool {
		_, isMember := x.at[o.Node]
		return !isMember
	})
}

// ratio is the load of a member with so much more, as a multiple of the mean.
func (x *proposing) ratio(m int, more float64) float64 {
	return (x.costs[m] + more) / (x.members[m].Weight * x.mean)
}

func (x *proposing) worst() (ratio float64, node string) {
	for m := range x.members {
		if r := x.ratio(m, 0); r > ratio {
			ratio, node = r, x.members[m].ID
		}
	}
	return ratio, node
}

// A piece is a range, or a part of one, that can move.
type piece struct {
	r      ring.Range
	row    *ring.Row
	cost   float64
	stored float64
}

// relieve takes load from the busiest node that was not looked at yet. It reports false once all nodes are
// near the mean.
func (x *proposing) relieve() bool {
	from := -1
	for m := range x.members {
		if r := x.ratio(m, 0); r > Aim && !x.done[m] && (from < 0 || r > x.ratio(from, 0)) {
			from = m
		}
	}
	if from < 0 {
		return false
	}
	if x.done == nil {
		x.done = make(map[int]bool)
	}
	x.done[from] = true
	pieces := x.pieces(from)
	// Without copying, then with the least copying, and at last whatever makes the node less busy.
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(b.cost, a.cost) })
	pieces = x.move(from, pieces, (*proposing).backup)
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.price(), b.price()) })
	pieces = x.move(from, pieces, (*proposing).idlest)
	x.move(from, pieces, (*proposing).lessBusy)
	return true
}

// price orders pieces by the bytes for an operation. Similar prices are equal, so that neighbours stay
// together.
func (p *piece) price() float64 { return math.Round(math.Log((p.stored+1)/p.cost) / math.Log(1.05)) }

// move gives pieces away until the node is near the mean, and returns those that are left.
func (x *proposing) move(from int, pieces []piece, choose func(*proposing, int, *piece) int) (left []piece) {
	for i := range pieces {
		p := &pieces[i]
		to := -1
		if excess := x.costs[from] - Aim*x.mean*x.members[from].Weight; excess > 0 && len(x.p.Overrides) < ring.MaxOverrides-2 {
			to = choose(x, from, p)
		}
		if to < 0 {
			left = append(left, *p)
			continue
		}
		x.costs[from] -= p.cost
		x.costs[to] += p.cost
		x.p.Moves++
		if p.row.Holds(x.members[to].ID) {
			x.p.Promotions++
		} else {
			x.p.Bytes += int64(p.stored)
		}
		x.p.Overrides = override(x.p.Overrides, p.r, x.members[to].ID, p.row.Primary)
	}
	return left
}

// fits reports whether a piece leaves a member near the mean.
func (x *proposing) fits(to int, p *piece) bool { return x.ratio(to, p.cost) <= Aim }

// backup chooses the least busy member that has a copy.
func (x *proposing) backup(_ int, p *piece) int {
	return x.least(func(m int) bool { return slices.Contains(p.row.Backups, x.members[m].ID) && x.fits(m, p) })
}

// idlest chooses the least busy member. A piece that would make the giver the idlest stays.
func (x *proposing) idlest(from int, p *piece) int {
	if x.costs[from]-p.cost < x.mean*x.members[from].Weight*(2-Aim) {
		return -1
	}
	return x.least(func(m int) bool { return m != from && x.fits(m, p) })
}

// lessBusy chooses the least busy member that is less busy with the piece than the giver is with it.
func (x *proposing) lessBusy(from int, p *piece) int {
	return x.least(func(m int) bool { return m != from && x.ratio(m, p.cost) < x.ratio(from, 0)*.95 })
}

func (x *proposing) least(may func(m int) bool) int {
	best := -1
	for m := range x.members {
		if may(m) && (best < 0 || x.ratio(m, 0) < x.ratio(best, 0)) {
			best = m
		}
	}
	return best
}

// pieces are what a member serves and is asked for: its ranges, cut into parts of little load each.
func (x *proposing) pieces(m int) []piece {
	var all []piece
	id := x.members[m].ID
	profile, s := x.Profiles[id], x.shares[id]
	var add func(row *ring.Row, r ring.Range)
	add = func(row *ring.Row, r ring.Range) {
		p := piece{r: r, row: row}
		if p.cost, p.stored = profile.of(s, r); p.cost <= 0 {
			return
		}
		if half := (r.Start + ring.Token(r.Len()/2)) &^ (cellSize - 1); !x.Whole && p.cost > grain*x.mean && half != r.Start && r.Contains(half) {
			add(row, ring.Range{Start: r.Start, End: half})
			add(row, ring.Range{Start: half, End: r.End})
			return
		}
		all = append(all, p)
	}
	for row := range x.Present.Rows() {
		if row.Primary == id {
			add(row, row.Range)
		}
	}
	perOp := 1.0
	if total := profile.Total(); total.Ops > 0 {
		perOp = total.Cost() / total.Ops
	}
	for some := range slices.Chunk(all, window) {
		estimate(some, perOp)
	}
	for _, p := range all {
		if share := p.cost / x.meanNode; share > max(Aim, x.p.HottestShare) {
			x.p.Hottest, x.p.HottestShare = p.r, share
		}
	}
	return all
}

// estimate replaces the measured costs of neighbouring pieces by likely ones. Rates remember the operations of some 20
// seconds, which come at random: measured costs differ by that even if all data has the same load, and the highest are
// those measured too high. As far as they do not differ more, the likely cost follows from the bytes stored; as far as
// they do, it is what was measured (the estimator of James and Stein, "Estimation with quadratic loss", 1961). perOp is
// the cost of an operation.
func estimate(some []piece, perOp float64) {
	cost, stored, tokens := 0.0, 0.0, 0.0
	for i := range some {
		cost += some[i].cost
		stored += some[i].stored
		tokens += float64(some[i].r.Len())
	}
	expected := func(p *piece) float64 { // a hundredth by tokens: a piece can have load without data
		part := float64(p.r.Len()) / tokens
		if stored > 0 {
			part = (p.stored/stored + part/100) / 1.01
		}
		return cost * part
	}
	differ := 0.0 // variance as a multiple of what chance explains
	for i := range some {
		mean := expected(&some[i])
		off := some[i].cost - mean
		differ += off * off / (mean * perOp / (2 * memory)) / float64(max(len(some)-1, 1))
	}
	trust := max(0, 1-1/max(differ, 1))
	for i := range some {
		mean := expected(&some[i])
		some[i].cost = mean + trust*(some[i].cost-mean)
	}
}
