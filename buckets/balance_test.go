package buckets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// A cluster is what the balance tests do things to. After each change it checks all
// that must hold.
type cluster struct {
	t        testing.TB
	strategy *Strategy
	members  []ring.Member
	backups  int
	p        *ring.Placement
	next     int
}

func newCluster(t testing.TB, backups int) *cluster {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{t: t, strategy: s, backups: backups}
}

func (c *cluster) add(weight float64) {
	c.next++
	c.members = append(c.members, ring.Member{ID: fmt.Sprintf("n%d", c.next), Weight: weight})
}

func (c *cluster) remove(i int) {
	c.members = append(c.members[:i:i], c.members[i+1:]...)
}

// rebalance takes the cluster to its desired placement and returns how many copies
// travel and the least that could.
func (c *cluster) rebalance() (moved, least int) {
	c.t.Helper()
	p, err := c.strategy.Desired(ring.Input{Members: c.members, Backups: c.backups, Present: c.p})
	if err != nil {
		c.t.Fatal(err)
	}
	had := holdings(c.p, p)
	held := make(map[string]int)
	serves := make(map[string]int)
	for row := range p.Rows() {
		serves[row.Primary]++
		for node := range row.Copies() {
			held[node]++
			if !had[row.Range][node] {
				moved++
			}
		}
	}
	copies := min(c.backups, len(c.members)-1) + 1
	before := make(map[string]int)
	for _, nodes := range had {
		for node := range nodes {
			before[node]++
		}
	}
	least = c.checkTotals(held, before, p.Len(), copies)
	c.checkPrimaries(p, serves)
	if under := c.strategy.cfg.SplitUnder; copies*p.Len() < under*len(c.members) {
		c.t.Errorf("%d nodes, %d buckets: a node of mean weight has fewer than %d", len(c.members), p.Len(), under)
	}
	c.p = p
	return moved, least
}

// holdings is who has what of the buckets of a placement before they are balanced:
// children of a bucket that was split are where it was.
func holdings(before, after *ring.Placement) map[ring.Range]map[string]bool {
	had := make(map[ring.Range]map[string]bool)
	for row := range after.Rows() {
		had[row.Range] = make(map[string]bool)
		if before == nil {
			continue
		}
		for node := range before.Lookup(row.Range.Start).Copies() {
			had[row.Range][node] = true
		}
	}
	return had
}

// checkTotals holds the totals against the quotas, and returns what the members
// lack at least, whichever of them have the ceilings: an independent lower bound of
// the copies that travel.
func (c *cluster) checkTotals(held, before map[string]int, buckets, copies int) (least int) {
	c.t.Helper()
	members, err := ring.SortedMembers(c.members)
	if err != nil {
		c.t.Fatal(err)
	}
	sum, floors, saving := 0, 0, 0
	lowest, highest := math.MaxInt, 0
	for i, q := range ring.Quotas(members, copies) {
		node, exact := members[i].ID, q*float64(buckets)
		n := held[node]
		if float64(n) < math.Floor(exact+1e-6) || float64(n) > math.Ceil(exact-1e-6) {
			c.t.Errorf("%s has %d buckets, its quota is %.3f", node, n, exact)
		}
		sum += n
		lowest, highest = min(lowest, n), max(highest, n)
		floor := int(math.Floor(exact + 1e-6))
		floors += floor
		least += max(0, floor-before[node])
		if floor < before[node] && exact > float64(floor)+1e-6 {
			saving++ // its ceiling costs nothing
		}
	}
	if sum != buckets*copies {
		c.t.Errorf("%d copies of %d buckets, want %d", sum, buckets, buckets*copies)
	}
	if c.equal() && highest-lowest > 1 {
		c.t.Errorf("%d nodes: totals from %d to %d", len(members), lowest, highest)
	}
	return least + max(0, sum-floors-saving)
}

// equal reports whether all members have the same quotas.
func (c *cluster) equal() bool {
	if ring.ZonesOf(c.members) != nil {
		return false
	}
	for _, m := range c.members {
		if m.Weight != c.members[0].Weight {
			return false
		}
	}
	return true
}

func (c *cluster) checkPrimaries(p *ring.Placement, serves map[string]int) {
	c.t.Helper()
	if c.equal() {
		lowest, highest := math.MaxInt, 0
		for _, m := range c.members {
			lowest, highest = min(lowest, serves[m.ID]), max(highest, serves[m.ID])
		}
		if highest-lowest > 1 {
			c.t.Errorf("%d nodes, %d backups: primaries from %d to %d", len(c.members), c.backups, lowest, highest)
		}
	}
}

func TestGrownOneByOne(t *testing.T) {
	for backups := range 3 {
		t.Run(fmt.Sprintf("backups=%d", backups), func(t *testing.T) {
			c := newCluster(t, backups)
			for range 64 {
				c.add(1)
				if moved, least := c.rebalance(); moved != least {
					t.Errorf("%d nodes: %d copies travel, %d is the least", len(c.members), moved, least)
				}
			}
			for len(c.members) > 1 {
				c.remove(len(c.members) / 2)
				c.checkMoves(c.rebalance())
			}
		})
	}
}

func (c *cluster) checkMoves(moved, least int) {
	c.t.Helper()
	if float64(moved) > math.Max(float64(least)*1.05, float64(least+1)) || moved < least {
		c.t.Errorf("%d nodes: %d copies travel, %d is the least", len(c.members), moved, least)
	}
}

// fewestMoves is the least number of copies that can travel from a placement to one
// within the quotas.
func (c *cluster) fewestMoves(before *ring.Placement) int {
	p := c.p
	members, err := ring.SortedMembers(c.members)
	if err != nil {
		c.t.Fatal(err)
	}
	copies := min(c.backups, len(members)-1) + 1
	var costs [][]int
	holds := holdings(before, p)
	for row := range p.Rows() {
		cost := make([]int, len(members))
		for i, m := range members {
			if !holds[row.Range][m.ID] {
				cost[i] = 1
			}
		}
		costs = append(costs, cost)
	}
	floors, ceilings := bounds(members, copies, p.Len())
	return cheapest(costs, floors, ceilings, copies, newZoning(members, copies))
}

// bounds are how many of the buckets each member may have.
func bounds(members []ring.Member, copies, buckets int) (floors, ceilings []int) {
	for _, q := range ring.Quotas(members, copies) {
		exact := q * float64(buckets)
		floors = append(floors, int(math.Floor(exact+1e-6)))
		ceilings = append(ceilings, int(math.Ceil(exact-1e-6)))
	}
	return floors, ceilings
}

// With few buckets there is an independent answer to what the fewest moves are, and
// to how near primaries can come to their shares.
func TestMovesAreTheFewestAndPrimariesTheNearest(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		t.Run(fmt.Sprintf("weighted=%v", weighted), func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rnd := rand.New(rand.NewPCG(seed, 0))
			for range 20 {
				c := newCluster(t, rnd.IntN(4))
				c.strategy, _ = New(Config{Mask: 0x3F, SplitUnder: 1})
				for range 20 {
					c.change(rnd, 20, weighted)
					before := c.p
					moved, _ := c.rebalance()
					if fewest := c.fewestMoves(before); moved != fewest {
						t.Errorf("%d nodes: %d copies travel, %d is the fewest", len(c.members), moved, fewest)
					}
					c.checkNearest()
				}
			}
		})
	}
}

// change lets some members join, leave and change their weight at once.
func (c *cluster) change(rnd *rand.Rand, most int, weighted bool) {
	weight := func() float64 {
		if weighted {
			return math.Exp(rnd.NormFloat64())
		}
		return 1
	}
	for range rnd.IntN(most/8 + 1) {
		if len(c.members) < most {
			c.add(weight())
		}
	}
	for range rnd.IntN(most/8 + 1) {
		if len(c.members) > 1 {
			c.remove(rnd.IntN(len(c.members)))
		}
	}
	if len(c.members) == 0 {
		c.add(weight())
	}
	if weighted {
		c.members[rnd.IntN(len(c.members))].Weight = weight()
	}
	rnd.Shuffle(len(c.members), func(i, j int) {
		c.members[i], c.members[j] = c.members[j], c.members[i]
	})
}

// checkNearest holds the primaries against the least sum of squared distances from
// the shares that the copies allow.
func (c *cluster) checkNearest() {
	c.t.Helper()
	place := make(map[string]int)
	weights := 0.0
	for i, m := range c.members {
		place[m.ID] = i
		weights += m.Weight
	}
	shares := make([]float64, len(c.members))
	for i, m := range c.members {
		shares[i] = float64(c.p.Len()) * m.Weight / weights
	}
	serves := make([]int, len(c.members))
	var holders [][]int
	for row := range c.p.Rows() {
		serves[place[row.Primary]]++
		var nodes []int
		for node := range row.Copies() {
			nodes = append(nodes, place[node])
		}
		holders = append(holders, nodes)
	}
	sum := 0.0
	for i, n := range serves {
		sum += math.Pow(float64(n)-shares[i], 2)
	}
	if best := nearest(holders, shares); sum > best+0.01 {
		c.t.Errorf("%d nodes: primaries %v of shares %.1f: squares add up to %.3f, %.3f is possible",
			len(c.members), serves, shares, sum, best)
	}
}

func TestGrownShrunkAndShuffled(t *testing.T) {
	for backups := range 3 {
		for _, weighted := range []bool{false, true} {
			t.Run(fmt.Sprintf("backups=%d,weighted=%v", backups, weighted), func(t *testing.T) {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				rnd := rand.New(rand.NewPCG(seed, 0))
				c := newCluster(t, backups)
				for range 60 {
					c.change(rnd, 64, weighted)
					moved, least := c.rebalance()
					if !weighted {
						c.checkMoves(moved, least)
					}
					if again, _ := c.rebalance(); again > 0 {
						t.Errorf("%d copies travel although nothing has changed", again)
					}
					if t.Failed() {
						return
					}
				}
			})
		}
	}
}
