package node

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A longUnit is at work on a key of node a, until it is told to end.
type longUnit func(c *virtualCluster, key string, long []byte) (end func() error)

// longUnits have written part of a long value, or run a script.
var longUnits = map[string]longUnit{
	"string": stored(func(u *store.Unit, key, long []byte) error {
		v, err := u.Get(key)
		if err != nil {
			return err
		}
		return u.PutString(key, v, long, 0, false)
	}),
	"collection": stored(func(u *store.Unit, key, long []byte) error {
		v, err := u.Get(key)
		if err != nil {
			return err
		}
		return u.Construct(key, &v, store.Hash, nil, func(set func(sub, value []byte) error) (count, size int64, err error) {
			for i := range byte(64) {
				if err := set([]byte{store.FieldKind, i}, long[:1<<15]); err != nil {
					return 0, 0, err
				}
			}
			return 64, 64 << 15, nil
		})
	}),
	"script": func(c *virtualCluster, key string, _ []byte) func() error {
		client, ended := c.client("a"), make(chan error, 1)
		go func() {
			ended <- client.Eval(context.Background(), "redis.call('SET', KEYS[1], 'v') redis.log(redis.LOG_WARNING, ARGV[1])", []string{key}, waitWord).Err()
		}()
		c.within(time.Second, "the script runs", c.scripts.waits)
		return func() error {
			c.scripts.end()
			err := <-ended
			if errors.Is(err, redis.Nil) { // what the script returns
				err = nil
			}
			return errors.Join(err, client.Close())
		}
	},
}

// stored is a unit of the store itself.
func stored(build func(u *store.Unit, key, long []byte) error) longUnit {
	return func(c *virtualCluster, key string, long []byte) func() error {
		u := c.nodes["a"].store.NewUnit()
		u.Begin(time.Now().UnixMilli(), []store.Place{u.Place([]byte(key))})
		if err := build(u, []byte(key), long); err != nil {
			c.t.Fatal(err)
		}
		return func() error {
			var done store.Signal
			if wait, err := u.Commit(&done); err != nil || !wait {
				return err
			}
			return done.Wait()
		}
	}
}

// waitWord is what a script logs to wait, in virtual time, until the test ends it.
const waitWord = "wait for the test"

// waitingScripts is a log handler that holds up scripts which log waitWord.
type waitingScripts struct {
	slog.Handler
	waiting *atomic.Bool
	over    chan struct{}
}

func (w *waitingScripts) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasSuffix(r.Message, waitWord) {
		w.waiting.Store(true)
		<-w.over
	}
	return w.Handler.Handle(ctx, r)
}

func (w *waitingScripts) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &waitingScripts{w.Handler.WithAttrs(attrs), w.waiting, w.over}
}

func (w *waitingScripts) waits() bool { return w.waiting.Load() }
func (w *waitingScripts) end()        { close(w.over) }

// A longCase is what changes in a cluster of three with one backup while a unit at a goes on.
type longCase struct {
	strategy string // empty: the default
	begin    func(c *virtualCluster)
	// goesOn, if set, is what begins and may wait for the unit: it must succeed.
	goesOn func(c *virtualCluster) error
	copies int  // beside the primary, at the end
	empty  bool // the value of the unit is gone at the end
}

var longCases = map[string]longCase{
	"failover": {
		begin:  func(c *virtualCluster) { c.crash("c") },
		copies: 1,
	},
	"new backups": {
		begin: func(c *virtualCluster) {
			if _, err := c.nodes[c.leader()].cluster.table.Apply(c.t.Context(), &table.SetBackups{Backups: 2}); err != nil {
				c.t.Fatal(err)
			}
		},
		copies: 2,
	},
	"handoffs": {
		begin:  func(c *virtualCluster) { c.start("d", "a") },
		copies: 1,
	},
	// A node that joins this ring cuts ranges.
	"cuts and handoffs": {
		strategy: StrategyVnode,
		begin:    func(c *virtualCluster) { c.start("d", "a") },
		copies:   1,
	},
	"planned stop": {
		begin:  func(c *virtualCluster) { c.stop("c") },
		copies: 1,
	},
	"leave": {
		goesOn: func(c *virtualCluster) error {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			c.nodes["c"].leaves = true
			if err := c.nodes["c"].Leave(ctx); err != nil {
				return err
			}
			c.stop("c")
			return nil
		},
		copies: 1,
	},
	"switch with merges": {
		strategy: StrategyVnode,
		goesOn: func(c *virtualCluster) error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			return c.nodes["b"].cluster.switcher.run(ctx, StrategyBuckets, nil)
		},
		copies: 1,
	},
	"backup": {
		goesOn: func(c *virtualCluster) error {
			_, _, err := c.takeBackup("b", nil)
			return err
		},
		copies: 1,
	},
	"FLUSHALL": {
		goesOn: func(c *virtualCluster) error { _, err := c.do("b", "FLUSHALL"); return err },
		copies: 1, empty: true,
	},
	"SWAPDB": {
		goesOn: func(c *virtualCluster) error {
			_, err := c.do("b", "SWAPDB", "1", "2")
			if err == nil || !strings.Contains(err.Error(), "TRYAGAIN the databases are not swapped") {
				return fmt.Errorf("does not say that nothing is swapped: %w", err)
			}
			return nil
		},
		copies: 1,
	},
}

// A unit that has written part of a long value, or a script, that does not end, does not keep a
// dead backup in its sets, nor other nodes from taking over. Ranges that it does not touch are
// cut, copied and handed over; those of its latch wait, and all keys of other latches are served.
func TestControlGoesOnWhileUnitBuildsLongValue(t *testing.T) {
	randomtest.Draw(t, 4)
	long := bytes.Repeat([]byte("x"), 3<<20)
	for event, test := range longCases {
		for name, begin := range longUnits {
			if isBrief() && (event == "failover") == (name == "script") {
				continue
			}
			if isBrief() && name == "collection" && event != "failover" {
				continue
			}
			t.Run(event+", "+name, func(t *testing.T) {
				virtually(t, 1, func(t *testing.T, seed uint64) {
					scripts := &waitingScripts{waiting: new(atomic.Bool), over: make(chan struct{})}
					c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
						cfg.Strategy = cmp.Or(test.strategy, cfg.Strategy)
						of := *scripts
						of.Handler = cfg.Logger.Handler()
						cfg.Logger = slog.New(&of)
					})
					c.scripts = scripts
					c.backed()
					key := c.keyAt("a", "c")
					place := c.nodes["a"].store.NewUnit().Place([]byte(key))
					end := begin(c, key, long)
					if test.begin != nil {
						test.begin(c)
					}
					over := make(chan error, 1)
					go func() {
						var err error
						if test.goesOn != nil {
							err = test.goesOn(c)
						}
						c.say("%s: %v", event, err)
						over <- err
					}()
					client := c.client("b")
					defer client.Close()
					served := func() bool {
						for i := range 200 {
							other := fmt.Sprint("key", i)
							if store.SameLatch(place, c.nodes["a"].store.NewUnit().Place([]byte(other))) {
								continue
							}
							ctx, cancel := context.WithTimeout(context.Background(), time.Second)
							err := client.Set(ctx, other, "v", 0).Err()
							cancel()
							if err != nil {
								return false
							}
						}
						return true
					}
					c.within(15*time.Second, "all other keys are served", served)
					time.Sleep(10 * time.Second) // all is planned
					c.within(time.Minute, "ranges move that the unit does not touch", func() bool { return c.movedBut(place) })
					c.within(time.Second, "all other keys are served", served)
					if err := end(); err != nil {
						t.Error(err)
					}
					if err := <-over; err != nil {
						t.Errorf("%s: %v", event, err)
					}
					if n, err := client.Exists(context.Background(), key).Result(); (n == 0) != test.empty || err != nil {
						t.Error(n, err)
					}
					c.copied(test.copies)
					c.alike()
					c.close()
				})
			})
		}
	}
}

// A script runs for long on a node that is the backup of other ranges, among them one with a key
// of the script's latch. Writes there go on, the node stays in sync, and it takes the place of
// their primary when that dies.
func TestBackupFollowsWhileScriptRunsOnIt(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		scripts := &waitingScripts{waiting: new(atomic.Bool), over: make(chan struct{})}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			of := *scripts
			of.Handler = cfg.Logger.Handler()
			cfg.Logger = slog.New(&of)
		})
		c.scripts = scripts
		c.backed()
		own := c.keyAt("a", "c")
		cl := c.nodes["a"].cluster
		place := c.nodes["a"].store.NewUnit().Place([]byte(own))
		row, theirs := table.Row{}, ""
		for i := 0; theirs == ""; i++ {
			key := fmt.Sprint("other", i)
			if r, _ := cl.table.State().Row(cl.strategy.Token([]byte(key))); r.Primary == "b" && r.Holds("a") &&
				store.SameLatch(place, c.nodes["a"].store.NewUnit().Place([]byte(key))) {
				row, theirs = *r, key
			}
		}
		end := longUnits["script"](c, own, nil)
		client := c.client("c")
		defer func() { _ = client.Close() }()
		set := func(key, value string) error {
			ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
			defer cancel()
			return client.Set(ctx, key, value, 0).Err()
		}
		for i := range 20 {
			if err := set(theirs, fmt.Sprint(i)); err != nil {
				t.Fatalf("write %d whose backup runs the script: %v", i, err)
			}
			time.Sleep(200 * time.Millisecond)
		}
		if now, _ := cl.table.State().Row(row.Range.Start); !slices.Contains(now.Backups, "a") {
			t.Errorf("the node with the script is no backup any more: %+v", now)
		}
		c.crash("b")
		c.within(10*time.Second, "the node with the script has taken the place of the primary", func() bool {
			now, _ := cl.table.State().Row(row.Range.Start)
			return now.Primary == "a" && now.Epoch > row.Epoch
		})
		if err := end(); err != nil {
			t.Error(err)
		}
		c.within(time.Minute, "the key is served", func() bool { return set(theirs, "last") == nil })
		for key, want := range map[string]string{own: "v", theirs: "last"} {
			if got, err := client.Get(context.Background(), key).Result(); err != nil || got != want {
				t.Errorf("%s is %q, %v; want %q", key, got, err, want)
			}
		}
		c.start("b", "a")
		c.inSync(1)
		c.alike()
		c.close()
	})
}

// movedBut tells whether handoffs have nothing left to do, but for ranges that have a latch in
// common with a place.
func (c *virtualCluster) movedBut(place store.Place) bool {
	st := c.nodes[c.leader()].cluster.table.State()
	for row := range st.Rows() {
		free := true
		for token := row.Range.Start; free; {
			free = !store.SameLatch(place, store.Place(uint64(token)<<32))
			next := token | (1<<16 - 1) // a latch is that of 2^16 tokens
			if next-row.Range.Start >= ring.Token(row.Range.Len()-1) {
				break
			}
			token = next + 1
		}
		for _, h := range st.Handoffs() {
			for _, piece := range h.Pieces {
				moved := row.Primary == h.To || !piece.Primary && row.Holds(h.To) != (piece.Release == h.To)
				if free && row.Primary == h.From && piece.Range.Contains(row.Range.Start) && !moved {
					return false
				}
			}
		}
	}
	return true
}
