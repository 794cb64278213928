package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/decisions"
)

// Every node tells the same of what the cluster has decided, also one that was started again since.
func TestDecisionsAreTold(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.Backups = 1 })
		c.three()
		c.settled()
		if _, err := c.do("a", "RING", "PAUSE"); err != nil {
			t.Error(err)
		}
		if _, err := c.do("a", "RING", "RESUME"); err != nil {
			t.Error(err)
		}
		c.crash("b")
		texts := func(id string) (all []string) {
			for _, d := range c.nodes[id].decisions.Last() {
				all = append(all, d.Text)
			}
			return all
		}
		tells := func(id, text string) bool {
			return slices.ContainsFunc(texts(id), func(s string) bool { return strings.Contains(s, text) })
		}
		c.within(time.Minute, "it is told that b failed", func() bool { return tells("c", "node b failed") })
		c.start("b", "a")
		c.settled()
		c.within(time.Minute, "all tell the same", func() bool {
			last := func(id string) []decisions.Decision { return c.nodes[id].decisions.Last() }
			same := func(x, y decisions.Decision) bool { return x.Text == y.Text && x.At.Equal(y.At) }
			return slices.EqualFunc(last("a"), last("b"), same) && slices.EqualFunc(last("a"), last("c"), same)
		})
		for _, want := range []string{
			"node a founded the cluster", "node b joined as a store", "node c joined as a store", "user default ordered at node a: RING PAUSE", "handoffs are paused", "handoffs go on",
			" from a to b", "node b is an in-sync backup of ", "became the primary of ", " of node b", "node b was started again",
		} {
			if !tells("b", want) {
				t.Errorf("%q is not told:\n%s", want, strings.Join(texts("b"), "\n"))
			}
		}
		if text, err := c.do("b", "RING", "DECISIONS", "2"); err != nil || strings.Count(text, "\n") != 2 || !strings.Contains(text, texts("b")[1]+"\n") {
			t.Errorf("%q, %v", text, err)
		}
		if _, err := c.do("c", "RING", "LEAVE"); err != nil {
			t.Error(err)
		}
		c.within(5*time.Minute, "it is told that c left", func() bool { return tells("b", "node c left the cluster") })
		if !tells("b", "node c is leaving") || tells("b", "is forgotten") {
			t.Errorf("how c left:\n%s", strings.Join(texts("b"), "\n"))
		}
		if tells("b", "may have lost") {
			t.Errorf("nothing was lost:\n%s", strings.Join(texts("b"), "\n"))
		}
		c.close()
	})
}
