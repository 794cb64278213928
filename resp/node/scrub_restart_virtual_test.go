package node

import (
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// However often nodes are started again, and whoever serves a range then, everything is
// compared about once in an interval: each goes on where the last one was.
func TestComparisonsContinueAfterRestarts(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("one goroutine compares")
	}
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.ScrubInterval = time.Minute })
		c.backed()
		told := func() (age time.Duration, never int) {
			for _, id := range c.running() {
				s := c.nodes[id].cluster.scrub()
				age, never = max(age, time.Duration(s.OldestAge*float64(time.Second))), never+s.Never
			}
			return age, never
		}
		if _, never := told(); never < 500 {
			t.Errorf("%d ranges were not compared when everything began", never)
		}
		for i := range 6 {
			time.Sleep(20 * time.Second)
			id := c.running()[i%3]
			if i%2 == 0 {
				c.crash(id)
			} else {
				c.stop(id)
			}
			c.start(id)
			c.inSync(1)
		}
		age, never := told()
		c.say("the oldest comparison was %v ago, %d never", age, never)
		if never > 0 || age > 100*time.Second {
			t.Errorf("the oldest comparison was %v ago, and %d ranges have none", age, never)
		}
		client := c.client("a")
		defer func() { _ = client.Close() }()
		if text := ringText(client, "SCRUB", "STATUS"); strings.Count(text, "the oldest comparison was ") != 3 {
			t.Error(text)
		}
		if f := c.checks(); f.Differed > 0 {
			t.Errorf("%+v", f)
		}
		c.close()
	})
}
