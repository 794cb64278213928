package node

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

// backups says how many copies are wanted beside the primary, and waits until all ranges
// have them.
func (c *virtualCluster) backups(copies int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	first := c.nodes[c.running()[0]].cluster
	if _, err := first.table.Apply(ctx, &table.SetBackups{Backups: copies}); err != nil {
		c.t.Fatal(err)
	}
	c.copied(copies)
}

func (c *virtualCluster) copied(copies int) {
	c.t.Helper()
	why := ""
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		why = ""
		for _, id := range c.running() {
			st := c.nodes[id].cluster.table.State()
			for row := range st.Rows() {
				if n, _ := st.Node(row.Primary); len(row.Backups) != copies || row.Incarnation != n.Incarnation {
					why = fmt.Sprintf("%s sees %+v", id, row)
				}
			}
			if len(st.Handoffs()) > 0 {
				why = fmt.Sprintf("%s sees %d handoffs", id, len(st.Handoffs()))
			}
		}
		if why == "" {
			return
		}
		if time.Now().After(end) {
			for _, id := range c.running() {
				c.say("%s: %+v; its log:\n%s", id, c.nodes[id].cluster.engine.LeaseStats(), &c.nodes[id].log)
			}
			c.t.Fatalf("copies are missing: %s", why)
		}
	}
}

// A written is what a client knows of a key: the last value that was acknowledged, and
// those after it of which it does not know.
type written struct {
	acked   int
	unknown []int
}

func (w *written) may(value int) bool {
	for _, u := range w.unknown {
		if u == value {
			return true
		}
	}
	return value == w.acked
}

// write writes keys one after the other through a node, until each was acknowledged once,
// or time is over. It returns how long the last took.
func (c *virtualCluster) write(id string, keys map[string]*written, value int) time.Duration {
	c.t.Helper()
	client := c.client(id)
	defer client.Close()
	began := time.Now()
	for key, w := range keys {
		for {
			err := client.Set(context.Background(), key, value, 0).Err()
			if err == nil {
				w.acked, w.unknown = value, nil
				break
			}
			if strings.HasPrefix(err.Error(), "UNKNOWN") {
				w.unknown = append(w.unknown, value)
			}
			if time.Since(began) > 2*time.Minute {
				c.t.Fatalf("%s through %s: %v", key, id, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return time.Since(began)
}

// read compares what every node answers with what is known.
func (c *virtualCluster) read(keys map[string]*written) {
	c.t.Helper()
	for _, id := range c.running() {
		client := c.client(id)
		for key, w := range keys {
			var got int
			var err error
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				if got, err = client.Get(context.Background(), key).Int(); err == nil {
					break
				}
			}
			if err != nil || !w.may(got) {
				c.t.Errorf("%s through %s: %d, %v; %d was acknowledged, perhaps %v since", key, id, got, err, w.acked, w.unknown)
			}
		}
		_ = client.Close()
	}
}

func someKeys(n int) map[string]*written {
	keys := make(map[string]*written)
	for i := range n {
		keys[fmt.Sprint("key", i)] = new(written)
	}
	return keys
}

// Whoever is killed: what it had acknowledged is there, and its keys can be written again
// within seconds.
func TestKilledNodeIsReplaced(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		rnd := rand.New(rand.NewPCG(seed, 3))
		keys := someKeys(60)
		c.write("a", keys, 1)
		for round := range turns(3) {
			victim := c.running()[rnd.IntN(3)]
			c.say("%s is killed, %s leads", victim, c.leader())
			others := slices.DeleteFunc(c.running(), func(id string) bool { return id == victim })
			through := others[rnd.IntN(2)]
			var crash sync.WaitGroup
			crash.Go(func() { c.crash(victim) }) // which goes on for a while, unseen by anybody
			if took := c.write(through, keys, 2+round); took > 5*time.Second {
				t.Errorf("writes took %v", took)
			} else {
				c.say("written after %v", took)
			}
			crash.Wait()
			c.read(keys)
			c.start(victim, c.running()...)
			c.copied(1)
			c.read(keys)
		}
		c.close()
	})
}

// A whole cluster that is stopped, or killed, comes back with everything, whoever is
// first.
func TestWholeClusterRestarts(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		rnd := rand.New(rand.NewPCG(seed, 3))
		keys := someKeys(60)
		for round := range turns(3) {
			c.write("a", keys, 1+round)
			ids := c.running()
			rnd.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			for _, id := range ids {
				if round == 0 || rnd.IntN(2) == 0 {
					c.say("%s stops", id)
					c.stop(id)
				} else {
					c.say("%s is killed", id)
					c.crash(id)
				}
				time.Sleep(time.Duration(rnd.IntN(4000)) * time.Millisecond)
			}
			rnd.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			for _, id := range ids {
				c.say("%s starts", id)
				c.start(id, "a", "b", "c")
				time.Sleep(time.Duration(rnd.IntN(4000)) * time.Millisecond)
			}
			c.copied(1)
			c.read(keys)
		}
		c.close()
	})
}
