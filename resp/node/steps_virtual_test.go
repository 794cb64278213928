package node

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/resp/node/nodetest"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// A doom ends whichever node comes to a step, at some time that it, or another, does.
type doom struct {
	step  step.Step
	seed  uint64
	left  atomic.Int64  // until it happens
	hit   chan struct{} // closed when it has
	v     *virtualNode  // to whom
	dir   string        // a copy of its files at that moment
	fs    *memdisk.FS
	fault error
}

// reached is called by nodes, also with locks held: it waits for nobody.
func (d *doom) reached(c *virtualCluster, v *virtualNode, s step.Step) {
	if d == nil || s != d.step || d.left.Add(-1) != 0 {
		return
	}
	c.net.Unplug(v.ip, true)
	c.net.Crash(v.ip)
	d.v = v
	d.fs = v.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(d.seed, 5))})
	d.dir, d.fault = momentOf(v.dir)
	close(d.hit)
}

// momentOf copies files as they are at one moment, though somebody writes them.
func momentOf(dir string) (string, error) {
	read := func() (map[string][]byte, error) {
		all := make(map[string][]byte)
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			all[path], err = os.ReadFile(path)
			return err
		})
		return all, err
	}
	same := func(a, b map[string][]byte) bool {
		for path := range a {
			if !bytes.Equal(a[path], b[path]) {
				return false
			}
		}
		return len(a) == len(b)
	}
	var last map[string][]byte
	for {
		now, err := read()
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue // it was replaced
			}
			return "", err
		}
		if last != nil && same(last, now) {
			break
		}
		last = now
	}
	to, err := os.MkdirTemp(filepath.Dir(dir), "moment")
	if err != nil {
		return "", err
	}
	for path, text := range last {
		name, err := filepath.Rel(dir, path)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), text, 0o600)
		}
		if err != nil {
			return "", err
		}
	}
	return to, nil
}

// An occasion is what makes nodes come to some steps.
type occasion struct {
	steps   []step.Step
	most    int // of how many times that a step is come to one is drawn
	backups int
	placing string
	// arise lets it begin. What it returns is called once a node has ended there, of which
	// there are remains, and ends what was begun.
	arise func(c *virtualCluster, rnd *rand.Rand) (end func(ended *virtualNode))
}

func nothingMore(*virtualNode) {}

// random is one of the nodes that run.
func (c *virtualCluster) random(rnd *rand.Rand) string {
	ids := c.running()
	return ids[rnd.IntN(len(ids))]
}

var occasions = []occasion{
	{
		steps: []step.Step{step.WriteGiven, step.WriteSent, step.WriteTaken, step.WriteAcked, step.WriteFreed},
		most:  300, backups: 1,
		arise: func(*virtualCluster, *rand.Rand) func(*virtualNode) { return nothingMore },
	},
	{
		steps: []step.Step{step.ShrinkDue, step.ShrinkDecided},
		most:  1, backups: 1,
		arise: func(c *virtualCluster, rnd *rand.Rand) func(*virtualNode) {
			ip := c.nodes[c.random(rnd)].ip
			c.net.Freeze(ip, true)
			return func(*virtualNode) { c.net.Freeze(ip, false) }
		},
	},
	{
		steps: []step.Step{step.GrowthCounted, step.GrowthAdmitted},
		most:  2, backups: 1,
		arise: func(c *virtualCluster, rnd *rand.Rand) func(*virtualNode) {
			id := c.random(rnd)
			c.stop(id)
			time.Sleep(time.Duration(rnd.IntN(3000)) * time.Millisecond)
			c.start(id, "a", "b", "c")
			return nothingMore
		},
	},
	{
		steps: []step.Step{step.FailoverFenced, step.FailoverAnswered, step.FailoverDecided, step.FailoverCompared, step.FailoverJoined},
		most:  1, backups: 2,
		arise: func(c *virtualCluster, rnd *rand.Rand) func(*virtualNode) {
			c.crash(c.random(rnd))
			return nothingMore
		},
	},
	{
		steps: []step.Step{step.HandoffTaken, step.HandoffStill, step.HandoffDecided, step.HandoffDropped},
		most:  4, backups: 1,
		arise: func(c *virtualCluster, rnd *rand.Rand) func(*virtualNode) {
			c.start("d", "a", "b", "c")
			return nothingMore
		},
	},
	{
		steps: []step.Step{step.SplitStill, step.SplitDecided},
		most:  2, backups: 1, placing: StrategyVnode,
		arise: func(c *virtualCluster, rnd *rand.Rand) func(*virtualNode) {
			c.start("d", "a", "b", "c")
			return nothingMore
		},
	},
	{
		steps: []step.Step{step.PromotionStill, step.PromotionDone},
		most:  1, backups: 1,
		arise: func(c *virtualCluster, rnd *rand.Rand) func(*virtualNode) {
			v := c.nodes[c.random(rnd)]
			var closing sync.WaitGroup
			closing.Go(func() { _ = v.Close() })
			return func(ended *virtualNode) {
				closing.Wait()
				if ended != v {
					v.Node = nil
				}
			}
		},
	},
	{
		steps: []step.Step{startNoted, startOpened, startEntering, startRegistered, startEntered},
		most:  1, backups: 1,
		arise: func(c *virtualCluster, rnd *rand.Rand) func(*virtualNode) {
			id := c.random(rnd)
			if rnd.IntN(2) == 0 {
				c.crash(id)
			} else {
				c.stop(id)
			}
			time.Sleep(time.Duration(rnd.IntN(5000)) * time.Millisecond)
			c.start(id, "a", "b", "c")
			return nothingMore
		},
	},
}

// A node ends at each step on the way of a write, and of every change of a set, a primary
// or bounds, and starts again: nothing that was acknowledged is lost, and no answer is ever
// wrong.
func TestNothingIsLostWhenNodeEndsAtAnyStep(t *testing.T) {
	randomtest.Draw(t, 3)
	randomtest.DrawShort(t, 4)
	var known []step.Step
	for _, o := range occasions {
		known = append(known, o.steps...)
	}
	for _, s := range step.Steps {
		if !slices.Contains(known, s) {
			t.Errorf("nothing leads to the step %q", s)
		}
	}
	for i, o := range occasions {
		for j, step := range o.steps {
			t.Run(string(step), func(t *testing.T) {
				for _, seed := range seeds(t, 1, 20) {
					// One of each occasion's is enough where time is short, and a tenth of them
					// by default; go tool task test:virtual takes them all, many times.
					if testing.Short() && int(seed%uint64(len(o.steps))) != j || isOmitted() {
						continue
					}
					fakenet.Bubble(t, func(t *testing.T) { occasions[i].endAt(t, step, seed) })
					if t.Failed() {
						t.Fatalf("set RINGSIDE_TEST_SEED=%d to see it again", seed)
					}
				}
			})
		}
	}
}

// isOmitted draws whether a step is left to another run of the tests.
func isOmitted() bool {
	return os.Getenv("RINGSIDE_LONG") == "" && os.Getenv("RINGSIDE_TEST_SEED") == "" && !testing.Short() && rand.IntN(10) > 0
}

func (o *occasion) endAt(t *testing.T, step step.Step, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 17))
	placing := o.placing
	if placing == "" {
		placing = []string{StrategyBuckets, StrategyKetama, StrategyVnode}[rnd.IntN(3)]
	}
	c := newVirtualCluster(t, seed, time.Duration(1+rnd.IntN(5))*time.Millisecond, 0, func(cfg *Config) { cfg.Strategy = placing })
	c.three()
	c.backups(o.backups)
	var l nodetest.AppLoad
	closeClients := c.load(&l, seed, true, "a", "b", "c")
	time.Sleep(time.Duration(rnd.IntN(2000)) * time.Millisecond)

	d := &doom{step: step, seed: seed, hit: make(chan struct{})}
	nth := 1 + rnd.IntN(o.most)
	d.left.Store(int64(nth))
	c.doom.Store(d)
	end := o.arise(c, rnd)
	select {
	case <-d.hit:
	case <-time.After(time.Minute):
		if came := int64(nth) - d.left.Load(); came == 0 {
			c.tell()
			t.Fatalf("nobody came to the step")
		} else {
			c.say("the step was come to %d times only, not %d", came, nth)
		}
	}
	c.doom.Store(nil)
	if d.v != nil {
		if d.fault != nil {
			t.Fatal(d.fault)
		}
		c.say("%s ends at %q, when that is come to for the %d. time", d.v.id, step, nth)
		end(d.v)
		c.buried(d.v, d.dir, d.fs)
	} else {
		end(nil)
	}
	time.Sleep(time.Duration(rnd.IntN(8000)) * time.Millisecond)
	for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
		if c.nodes[id].Node == nil {
			c.start(id, "a", "b", "c")
		}
	}
	c.settled()
	c.copied(o.backups)
	time.Sleep(time.Second)
	l.Stop()
	closeClients()
	c.check(&l)
	c.close()
}
