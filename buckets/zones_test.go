package buckets

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
)

// Nodes join, leave and change their zones. Quotas hold, no zone has more copies of a bucket than it may have,
// and no fewer copies could travel: an independent flow over buckets, zones and members tells.
func TestMovesBetweenZonesAreTheFewest(t *testing.T) {
	for _, c := range []struct {
		seed     uint64
		weighted bool
	}{
		{randomtest.Seed(t), false},
		{randomtest.Seed(t), true},
		// Seeds with which a plan once ended before it had the cheapest choice of floors and ceilings.
		{8176083139520966183, true},
		{1149953946086813858, true},
	} {
		seed, weighted := c.seed, c.weighted
		t.Run(fmt.Sprintf("seed=%d/weighted=%v", seed, weighted), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 0))
			for range randomtest.Length(120, 4) {
				c := newCluster(t, rnd.IntN(4))
				c.strategy, _ = New(Config{Mask: 0x3F, SplitUnder: 1})
				zones := 1 + rnd.IntN(5)
				for range 15 {
					c.change(rnd, 12, weighted)
					for i := range c.members {
						if m := &c.members[i]; m.Zone == "" && rnd.IntN(3) > 0 || rnd.IntN(12) == 0 {
							m.Zone = fmt.Sprint("z", rnd.IntN(zones))
						}
					}
					before := c.p
					moved, _ := c.rebalance()
					if fewest := c.fewestMoves(before); moved != fewest {
						t.Errorf("%d nodes: %d copies travel, %d is the fewest", len(c.members), moved, fewest)
					}
					c.checkZones()
					c.checkNearest()
					if again, _ := c.rebalance(); again > 0 {
						t.Errorf("%d copies travel although nothing has changed", again)
					}
					if t.Failed() {
						t.Fatalf("members %+v", c.members)
					}
				}
			}
		})
	}
}

// A placement of another strategy, or of other buckets, becomes one with copies in different zones.
func TestAdoptionKeepsZonesApart(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range randomtest.Length(120, 3) {
		c := newCluster(t, rnd.IntN(4))
		c.strategy, _ = New(Config{Mask: 0x3F, SplitUnder: 1, Anew: rnd.IntN(2) == 0})
		for range 2 + rnd.IntN(8) {
			c.add(1)
		}
		zones := 1 + rnd.IntN(4)
		for i := range c.members {
			c.members[i].Zone = fmt.Sprint("z", rnd.IntN(zones))
		}
		var rows []ring.Row
		start := ring.Token(rnd.Uint32())
		for range 20 {
			row := ring.Row{Range: ring.Range{Start: start}, Epoch: 1}
			start += ring.Token(1 + rnd.IntN(1<<27))
			row.Range.End = start
			order := rnd.Perm(len(c.members))
			row.Primary = c.members[order[0]].ID
			for _, at := range order[1 : 1+rnd.IntN(len(order))] {
				row.Backups = append(row.Backups, c.members[at].ID)
			}
			rows = append(rows, row)
		}
		rows[len(rows)-1].Range.End = rows[0].Range.Start
		present, err := ring.NewPlacement(rows)
		if err != nil {
			t.Fatal(err)
		}
		in := ring.Input{Members: c.members, Backups: c.backups, Present: present}
		c.p, err = c.strategy.Desired(in)
		if err != nil {
			t.Fatal(err)
		}
		c.checkZones()
		if copied, fewest := copiedTokens(present, c.p), fewestTokens(t, present, c.p, in); copied != fewest {
			t.Errorf("%d tokens are copied, %d are the fewest", copied, fewest)
		}
		in.Present = c.p
		again, err := c.strategy.Desired(in)
		if err != nil {
			t.Fatal(err)
		}
		if n := copiedTokens(c.p, again); n > 0 && !c.strategy.cfg.Anew {
			t.Errorf("%d tokens are copied although nothing has changed", n)
		}
		if t.Failed() {
			t.Fatalf("%d backups, members %+v", c.backups, c.members)
		}
	}
}

// checkZones counts the copies of each bucket in each zone.
func (c *cluster) checkZones() {
	c.t.Helper()
	zone, sizes := make(map[string]string), make(map[string]int)
	for _, m := range c.members {
		zone[m.ID] = m.Zone
		if m.Zone == "" {
			zone[m.ID] = "alone/" + m.ID
		}
		sizes[zone[m.ID]]++
	}
	copies := min(c.backups, len(c.members)-1) + 1
	most := mostInZone(sizes, copies)
	for row := range c.p.Rows() {
		count := make(map[string]int)
		for node := range row.Copies() {
			count[zone[node]]++
			if count[zone[node]] > most {
				c.t.Errorf("%v lies at %s and %v: %d copies in zone %s, %d are enough", row.Range, row.Primary, row.Backups, count[zone[node]], zone[node], most)
			}
		}
		if 1+len(row.Backups) != copies {
			c.t.Errorf("%v has %d copies, want %d", row.Range, 1+len(row.Backups), copies)
		}
	}
}

// mostInZone is the least number of copies that the fullest zone must have.
func mostInZone(sizes map[string]int, copies int) int {
	for most := 1; ; most++ {
		room := 0
		for _, n := range sizes {
			room += min(n, most)
		}
		if room >= copies {
			return most
		}
	}
}
