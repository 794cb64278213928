package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/table/zones"
)

// zonedCluster is nodes in zones: n, of which a, b and c are in x, y and z, and so are the next ones.
func zonedCluster(t *testing.T, seed uint64, n int, zone map[string]string) *virtualCluster {
	c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
		fewerRanges(cfg)
		cfg.Zone, cfg.RereplicateAfter, cfg.Hash = zone[cfg.ID], 30*time.Second, "slot"
	})
	for i := range n {
		id := string(rune('a' + i))
		zone[id] = string(rune('x' + i%3))
		if i == 0 {
			c.start(id)
		} else {
			c.start(id, "a")
		}
	}
	return c
}

// zonesAgreed waits until the table has the zones of all running nodes, and the placement is the desired one.
func (c *virtualCluster) zonesAgreed(zone map[string]string) {
	c.t.Helper()
	c.within(time.Minute, "zones are agreed on", func() bool {
		values := c.nodes[c.running()[0]].cluster.table.State().Values()
		return !slices.ContainsFunc(c.running(), func(id string) bool { return zones.Of(values, id) != zone[id] })
	})
	c.settled()
}

// zonesApart checks that no two copies of a range are in one zone.
func (c *virtualCluster) zonesApart(zone map[string]string, copies int) {
	c.t.Helper()
	st := c.nodes[c.running()[0]].cluster.table.State()
	for row := range st.Rows() {
		in := make(map[string]bool)
		for node := range row.Copies() {
			in[zone[node]] = true
		}
		if len(in) != copies || 1+len(row.Backups) != copies {
			c.t.Errorf("%v lies at %s and %v, in zones %v", row.Range, row.Primary, row.Backups, in)
		}
	}
}

// TestLossOfZoneLosesNothing kills all nodes of one zone of three at the same moment. What was acknowledged is
// there, and can be written again. Then the zone is back, one of its nodes in another one.
func TestLossOfZoneLosesNothing(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		zone := make(map[string]string)
		c := zonedCluster(t, seed, 6, zone)
		c.zonesAgreed(zone)
		c.zonesApart(zone, 2)
		keys := someKeys(100)
		c.write("a", keys, 1)

		lost := string(rune('x' + c.rnd.IntN(3)))
		votes := 0
		voters := c.nodes["a"].cluster.table.Voters()
		for _, id := range voters {
			if zone[id] == lost {
				votes++
			}
		}
		if 2*(len(voters)-votes) <= len(voters) {
			t.Fatalf("zone %s has %d of the votes of %v", lost, votes, voters)
		}
		var dead []string
		for _, id := range c.running() {
			if zone[id] == lost {
				dead = append(dead, id)
			}
		}
		for _, id := range dead {
			c.net.Unplug(c.nodes[id].ip, true) // all of them at this moment
		}
		for _, id := range dead {
			c.crash(id)
		}
		c.say("zone %s with %v is lost", lost, dead)
		c.read(keys)
		c.write(c.running()[0], keys, 2)
		c.read(keys)
		c.settled() // other nodes have got the copies of the lost ones
		c.zonesApart(zone, 2)

		c.say("%v are back, %s in another zone", dead, dead[0])
		zone[dead[0]] = "new"
		for _, id := range dead {
			c.start(id, c.running()[0])
		}
		c.zonesAgreed(zone)
		c.zonesApart(zone, 2)
		c.read(keys)

		var report strings.Builder
		for _, id := range c.running() {
			client := c.client(id)
			hello, err := client.Do(t.Context(), "HELLO", "3").Result()
			if fields, _ := hello.(map[any]any); err != nil || fields["availability_zone"] != zone[id] {
				t.Errorf("HELLO at %s: %v, %v", id, hello, err)
			}
			for command, shows := range map[string]bool{"SHARDS": true, "SLOTS": true, "NODES": false} {
				reply, err := client.Do(t.Context(), "CLUSTER", command).Result()
				if text := fmt.Sprint(reply); err != nil || strings.Contains(text, "availability-zone") != shows || shows && !strings.Contains(text, "new") {
					t.Errorf("CLUSTER %s at %s: %v, %v", command, id, reply, err)
				}
			}
			if got, err := client.ConfigGet(t.Context(), "availability-zone").Result(); err != nil || got["availability-zone"] != zone[id] {
				t.Errorf("CONFIG GET at %s: %q, %v", id, got, err)
			}
			_ = client.Close()
			if info, err := c.do(id, "INFO", "server"); err != nil || !strings.Contains(info, "availability_zone:"+zone[id]+"\r\n") {
				t.Errorf("INFO at %s: %s, %v", id, info, err)
			}
			fmt.Fprint(&report, c.ask(id, "RING", "STATUS"))
		}
		if got := report.String(); !strings.Contains(got, " zone ") || !strings.Contains(got, " new ") {
			t.Errorf("the report shows no zones:\n%s", got)
		}
		c.close()
	})
}

// TestZonesWaitForBuildsThatKnowThem has a node of an earlier build in the cluster: zones have no effect before
// that one is upgraded. Then a node leaves its zone.
func TestZonesWaitForBuildsThatKnowThem(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		zone := map[string]string{"a": "x", "b": "y", "c": "x"}
		old := bus.Versions{Oldest: 3, Newest: bus.ZonesVersion - 1}
		speaks := map[string]bus.Versions{"b": old}
		given := false
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			fewerRanges(cfg)
			cfg.env.OldForms = true
			if cfg.env.Versions = speaks[cfg.ID]; given && cfg.env.Versions != old {
				cfg.Zone = zone[cfg.ID]
			}
		})
		c.three()
		given = true
		for _, id := range []string{"a", "c"} {
			c.stop(id)
			c.start(id, "b")
			c.ready(id)
		}
		c.settled()
		time.Sleep(20 * time.Second)
		if values := c.nodes["a"].cluster.table.State().Values(); zones.Any(values) {
			t.Errorf("zones are agreed on beside a node that does not know them: %v", values.All())
		}
		if text := c.nodes["a"].log.String(); !strings.Contains(text, "upgrade it first") {
			t.Errorf("the log does not say what zones wait for:\n%s", text)
		}
		c.stop("b")
		delete(speaks, "b")
		c.start("b", "a")
		c.zonesAgreed(zone)
		c.zonesApart(zone, 2)
		for _, id := range []string{"a", "b", "c"} {
			zone[id] = ""
			c.stop(id)
			c.start(id, c.running()[0])
			c.ready(id)
			c.settled()
		}
		c.zonesAgreed(zone)
		if values := c.nodes["a"].cluster.table.State().Values(); values != nil {
			t.Errorf("without zones there are still %v", values.All())
		}
		c.close()
	})
}

// TestPlanOfJoinInZone plans joins of nodes in zones: the copies of every range would be in different zones.
func TestPlanOfJoinInZone(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		zone := make(map[string]string)
		c := zonedCluster(t, seed, 2, zone) // one in x, one in y
		c.zonesAgreed(zone)
		shared := func(words ...string) (apart, together int) {
			text, desired, err := operator{c.nodes["b"].Node}.whatIf(t.Context(), words)
			if err != nil || !strings.Contains(text, "join n in zone "+words[3]) {
				t.Fatal(text, err)
			}
			for row := range desired.Rows() {
				if row.Holds("a") && row.Holds("n") {
					together++
				} else if row.Holds("n") {
					apart++
				}
			}
			return apart, together
		}
		if apart, together := shared("JOIN", "n", "ZONE", "x"); apart == 0 || together > 0 {
			t.Errorf("a node in the zone of a: %d ranges without a, %d with it", apart, together)
		}
		if apart, together := shared("JOIN", "n", "ZONE", "z"); apart == 0 || together == 0 {
			t.Errorf("a node in a zone of its own: %d ranges without a, %d with it", apart, together)
		}
		c.close()
	})
}
