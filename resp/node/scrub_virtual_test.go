package node

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/scrub"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// small lets data come to the disk early, and stay out of memory.
func small(cfg *Config) { cfg.MemTableSize, cfg.BlockCache = 1<<20, 64<<10 }

// noise writes keys whose values cannot be made smaller, and returns them.
func (c *virtualCluster) noise(rnd *rand.Rand, keys int) map[string][]byte {
	c.t.Helper()
	client := c.client("a")
	defer func() { _ = client.Close() }()
	values := make(map[string][]byte)
	for i := 0; i < keys; {
		pipe := client.Pipeline()
		for range min(keys-i, 200) {
			value := make([]byte, 1000)
			for j := range value {
				value[j] = byte(rnd.Uint32())
			}
			key := fmt.Sprint("noise", i)
			values[key] = value
			pipe.Set(context.Background(), key, value, 0)
			i++
		}
		if _, err := pipe.Exec(context.Background()); err != nil {
			c.t.Fatal(err)
		}
	}
	return values
}

// kept compares what every node answers with what was written, of a part of the keys each.
func (c *virtualCluster) kept(values map[string][]byte) {
	c.t.Helper()
	keys := slices.Sorted(maps.Keys(values))
	for i, id := range c.running() {
		client := c.client(id)
		for ; i < len(keys); i += 7 {
			key, value := keys[i], values[keys[i]]
			if got, err := client.Get(context.Background(), key).Bytes(); err != nil || !bytes.Equal(got, value) {
				c.t.Errorf("%s through %s: %d bytes, %v", key, id, len(got), err)
			}
		}
		_ = client.Close()
	}
}

// behind changes what the store of a node holds, without anybody's knowing; no value is a
// removal.
func (c *virtualCluster) behind(id, key string, value []byte) {
	c.t.Helper()
	u := c.nodes[id].store.NewUnit()
	u.Begin(time.Now().UnixMilli(), []store.Place{u.Place([]byte(key))})
	v, err := u.Get([]byte(key))
	if err == nil && value == nil {
		u.Delete([]byte(key), v)
	} else if err == nil {
		err = u.PutString([]byte(key), v, value, 0, false)
	}
	if err == nil {
		_, err = u.Commit(nil)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// flip changes a bit of a value in the tables of a node that are not flipped yet, and reports whether one has it.
func (c *virtualCluster) flip(id string, value []byte, flipped map[string]bool) bool {
	c.t.Helper()
	fs := c.nodes[id].fs
	names, err := fs.List("data/data")
	if err != nil {
		c.t.Fatal(err)
	}
	before := len(flipped)
	for _, name := range names {
		if !strings.HasSuffix(name, ".sst") || flipped[name] {
			continue
		}
		f, err := fs.OpenReadWrite(fs.PathJoin("data/data", name), vfs.WriteCategoryUnspecified)
		if err != nil {
			c.t.Fatal(err)
		}
		text, err := io.ReadAll(f)
		if err != nil {
			c.t.Fatal(err)
		}
		if at := bytes.Index(text, value[100:140]); at >= 0 {
			if _, err := f.WriteAt([]byte{text[at] ^ 4}, int64(at)); err != nil {
				c.t.Fatal(err)
			}
			c.say("a bit of %s of %s has flipped", name, id)
			flipped[name] = true
		}
		_ = f.Close()
	}
	return len(flipped) > before
}

// scrubbed has all copies compared by an operator's order, through one node.
func (c *virtualCluster) scrubbed(id string) {
	c.t.Helper()
	rounds := make(map[string]int64)
	for _, at := range c.running() {
		rounds[at] = c.nodes[at].cluster.engine.Scrub().Stats().Rounds
	}
	client := c.client(id)
	defer func() { _ = client.Close() }()
	if err := client.Do(context.Background(), "RING", "SCRUB").Err(); err != nil {
		c.t.Fatal(err)
	}
	for at, before := range rounds {
		c.within(30*time.Minute, "a round of "+at, func() bool { return c.nodes[at].cluster.engine.Scrub().Stats().Rounds > before })
	}
}

// checks are the figures of all nodes together.
func (c *virtualCluster) checks() (all scrub.Stats) {
	for _, id := range c.running() {
		f := c.nodes[id].cluster.engine.Scrub().Stats()
		all.Compared += f.Compared
		all.Skipped += f.Skipped
		all.Undecided += f.Undecided
		all.Differed += f.Differed
		all.Repaired += f.Repaired
		all.Repairing += f.Repairing
		all.Damaged += f.Damaged
		all.Yielded += f.Yielded
		all.Discarded += f.Discarded
		all.Unrepaired = append(all.Unrepaired, f.Unrepaired...)
	}
	return all
}

// served reads keys and writes others through some nodes until stop is called. Who asks for
// what is damaged may be told so, and asks again. stop returns how long the slowest took,
// that included.
func (c *virtualCluster) served(values map[string][]byte, through ...string) (stop func() (slowest time.Duration, times, told int)) {
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	var clients sync.WaitGroup
	var slowest time.Duration
	times, told := 0, 0
	keys := slices.Sorted(maps.Keys(values))
	for i, id := range through {
		client := c.client(id)
		clients.Go(func() {
			defer func() { _ = client.Close() }()
			for round := i; ctx.Err() == nil; round++ {
				key, other := keys[round*7919%len(keys)], fmt.Sprint("served", id, round%100)
				began := time.Now()
				for {
					got, err := client.Get(context.Background(), key).Bytes()
					if err == nil && !bytes.Equal(got, values[key]) {
						c.t.Errorf("%s at %s: another value", key, id)
					}
					if err == nil {
						err = client.Set(context.Background(), other, round, 0).Err()
					}
					if err == nil {
						break
					}
					if !strings.Contains(err.Error(), "cannot be read") || time.Since(began) > time.Minute {
						c.t.Errorf("%s, %s at %s: %v", key, other, id, err)
						return
					}
					mu.Lock()
					told++
					mu.Unlock()
					time.Sleep(10 * time.Millisecond)
				}
				mu.Lock()
				slowest = max(slowest, time.Since(began))
				times++
				mu.Unlock()
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	return func() (time.Duration, int, int) {
		cancel()
		clients.Wait()
		return slowest, times, told
	}
}

// What was changed in a backup behind everybody's back is found and repaired, while clients
// go on, and told.
func TestChangedBackupIsRepaired(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, small)
		c.backed()
		values := c.noise(rand.New(rand.NewPCG(seed, 5)), 1000)
		time.Sleep(time.Second)
		stop := c.rounds("a", "c")
		c.scrubbed("a")
		if f := c.checks(); f.Differed > 0 || f.Compared == 0 {
			t.Errorf("nothing is wrong yet: %+v", f)
		}
		first, second, third := c.keyAt("a", "b"), c.keyAt("b", "c"), c.keyAt("c", "b")
		c.behind("b", first, []byte("another"))
		c.behind("c", second, []byte("another"))
		st := c.nodes["c"].cluster.table.State()
		for key := range values {
			row, _ := st.Row(c.nodes["c"].cluster.strategy.Token([]byte(key)))
			if row.Primary == "c" && slices.Contains(row.Backups, "b") {
				third = key
				break
			}
		}
		c.behind("b", third, nil)
		c.scrubbed("b")
		c.within(10*time.Minute, "all are repaired", func() bool { f := c.checks(); return f.Differed == 3 && f.Repaired == 3 })
		c.settled()
		c.scrubbed("c")
		f := c.checks()
		if f.Differed != 3 || f.Repairing != 0 || f.Damaged != 0 || f.Discarded != 0 {
			t.Errorf("%+v", f)
		}
		slowest, times := stop()
		c.say("%d rounds, the slowest took %v; %+v", times, slowest, f)
		c.kept(values)
		c.alike()
		for _, id := range []string{"b", "c"} {
			if text := c.nodes[id].log.String(); id == "c" && !strings.Contains(text, "a backup differs from its primary") {
				t.Errorf("%s does not say so:\n%s", id, text)
			}
		}
		client := c.client("a")
		defer func() { _ = client.Close() }()
		info := ringText(client, "INFO")
		for _, line := range []string{"scrub_interval_seconds:86400\r\n", "scrub_differed:1\r\n", "scrub_repaired:1\r\n", "ranges_damaged:0\r\n"} {
			if !strings.Contains(info, line) {
				t.Errorf("RING INFO is without %q:\n%s", line, info)
			}
		}
		if text := ringText(client, "SCRUB", "STATUS"); !strings.Contains(text, "b\n") || !strings.Contains(text, "1 copies differed, 1 repaired") {
			t.Errorf("RING SCRUB STATUS: %s", text)
		}
		report := reportOf(t, client)
		if i := slices.IndexFunc(report.Nodes, func(n status.Node) bool { return n.ID == "c" }); report.Nodes[i].Scrub == nil || report.Nodes[i].Scrub.Differed != 1 {
			t.Errorf("%+v", report.Nodes[i].Scrub)
		}
		c.close()
	})
}

// A bit that flips on a disk costs nobody anything, whatever copies it is in.
func TestFlippedBitIsRepaired(t *testing.T) {
	randomtest.Draw(t, 4)
	which := []string{"backup", "primary"}
	if i := rand.IntN(2); isBrief() {
		which = which[i : i+1]
	}
	for _, what := range which {
		t.Run(what, func(t *testing.T) {
			virtually(t, 2, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, small)
				c.backed()
				rnd := rand.New(rand.NewPCG(seed, 5))
				values := c.noise(rnd, 6000)
				time.Sleep(time.Second)
				done := false
				st := c.nodes["b"].cluster.table.State()
				keys := slices.Sorted(maps.Keys(values))
				rnd.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				for _, key := range keys {
					value := values[key]
					row, _ := st.Row(c.nodes["b"].cluster.strategy.Token([]byte(key)))
					if row.Range.Start < 1<<28 || row.Range.Start > 0xf<<28 {
						continue // other things may lie in the same block
					}
					if what == "primary" && row.Primary == "b" || what == "backup" && slices.Contains(row.Backups, "b") {
						if done = c.flip("b", value, make(map[string]bool)); done {
							c.say("%s of %v", key, row)
							break
						}
					}
				}
				if !done {
					t.Fatal("nothing is on the disk")
				}
				stop := c.served(values, "a", "c")
				c.scrubbed("a")
				c.within(10*time.Minute, fmt.Sprintf("it is mended: %+v", c.checks()), func() bool {
					f := c.checks()
					return f.Discarded > 0 && f.Damaged == 0
				})
				c.inSync(1)
				c.settled()
				f := c.checks()
				if f.Yielded == 0 || f.Differed > 0 || len(f.Unrepaired) > 0 {
					t.Errorf("%+v", f)
				}
				slowest, times, told := stop()
				c.say("%d rounds, %d errors of damage, the slowest took %v; %+v", times, told, slowest, f)
				c.kept(values)
				c.alike()
				if err := c.nodes["b"].store.CheckRange(t.Context(), ring.Whole, nil); err != nil {
					t.Error(err)
				}
				c.close()
			})
		})
	}
}

// Damage in each table of a node, one node after the other, is repaired, and the node takes writes afterwards: while it
// runs, although its tables cannot be merged meanwhile, and where it meets the damage when it starts.
func TestDamageOfAllTablesIsRepaired(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("under the race detector, one kind of damage shows what there is to see")
	}
	which := []string{"running", "stopped", "crashed"}
	if i := rand.IntN(3); isBrief() {
		which = which[i : i+1]
	}
	end := map[string]func(*virtualCluster, string){"stopped": (*virtualCluster).stop, "crashed": (*virtualCluster).crash}
	for _, what := range which {
		t.Run(what, func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, small)
				c.backed()
				values := c.noise(rand.New(rand.NewPCG(seed, 5)), 6000)
				time.Sleep(time.Second)
				token := func(key string) ring.Token { return c.nodes["a"].cluster.strategy.Token([]byte(key)) }
				keys := slices.SortedFunc(maps.Keys(values), func(a, b string) int { return cmp.Compare(token(b), token(a)) })
				for id, other := range map[string]string{"a": "b", "b": "c", "c": "a"} {
					flipped := make(map[string]bool)
					for _, key := range keys {
						c.flip(id, values[key], flipped)
					}
					if len(flipped) < 2 {
						t.Fatalf("flipped %v", flipped)
					}
					if end := end[what]; end != nil {
						end(c, id)
						c.start(id, other)
						c.settled()
					}
					c.scrubbed(other)
					discards := c.nodes[id].cluster.engine.Scrub().Stats
					c.within(10*time.Minute, "it is repaired", func() bool { return discards().Discarded > 0 && c.checks().Damaged == 0 })
					time.Sleep(2 * damageGrace)
					if f := c.checks(); len(f.Unrepaired) > 0 || f.Differed > 0 {
						t.Errorf("%+v", f)
					}
					if err := c.nodes[id].store.Writable(); err != nil {
						t.Errorf("%s: %v", id, err)
					}
					c.settled()
					c.kept(values)
				}
				c.alike()
				c.close()
			})
		})
	}
}

// However much is written, expires and is removed, what is right is not taken for wrong.
func TestNothingIsWrongUnderHeavyWrites(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, small)
		c.backed()
		ctx, cancel := context.WithCancel(context.Background())
		pause := time.Millisecond
		if isBrief() {
			pause *= 5
		}
		var clients sync.WaitGroup
		for i, id := range []string{"a", "b", "c"} {
			client := c.client(id)
			rnd := rand.New(rand.NewPCG(seed, uint64(i)))
			clients.Go(func() {
				defer func() { _ = client.Close() }()
				for ctx.Err() == nil {
					pipe := client.Pipeline()
					for range 10 {
						key := fmt.Sprint("busy", rnd.IntN(60))
						switch rnd.IntN(6) {
						case 0:
							pipe.Set(context.Background(), key, strings.Repeat("x", rnd.IntN(200)), time.Duration(1+rnd.IntN(200))*time.Millisecond)
						case 1:
							pipe.Del(context.Background(), key)
						case 2:
							pipe.Append(context.Background(), key, "more")
						case 3:
							pipe.SetRange(context.Background(), key, int64(rnd.IntN(200_000)), "a piece")
						default:
							pipe.Set(context.Background(), key, rnd.Uint64(), 0)
						}
					}
					_, _ = pipe.Exec(context.Background())
					time.Sleep(time.Duration(rnd.IntN(4)) * pause)
				}
			})
		}
		for range 2 {
			c.scrubbed("a")
		}
		cancel()
		clients.Wait()
		f := c.checks()
		c.say("%+v", f)
		if f.Differed > 0 || f.Damaged > 0 || f.Compared < 2*100 {
			t.Errorf("%+v", f)
		}
		c.scrubbed("b") // with what has expired since, and is not removed perhaps
		if f := c.checks(); f.Differed > 0 {
			t.Errorf("%+v", f)
		}
		c.close()
	})
}
