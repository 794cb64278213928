package resp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// oneOwner is a placement of everything at one node.
func oneOwner(t *testing.T, node string) *ring.Placement {
	t.Helper()
	p, err := ring.NewPlacement([]ring.Row{{Range: ring.Whole, Primary: node, Epoch: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A watched key that was served by somebody else in between may have changed there: what
// counts is the epoch, and the process.
func TestWatchedKeysThatChangeHands(t *testing.T) {
	r := routedTest(t, 2)
	place := func(node string, epoch uint64) {
		p, err := ring.NewPlacement([]ring.Row{{Range: ring.Whole, Primary: node, Epoch: epoch}})
		if err != nil {
			t.Fatal(err)
		}
		r.placeAll(p)
	}
	place("n0", 1)
	for i := range r.servers {
		o := resptest.Dial(t, r.addrs[i], 2)
		for _, step := range []struct {
			name string
			do   func()
			nil  bool
		}{
			{"nothing", func() {}, false},
			{"to another", func() { place("n1", 2) }, true},
			{"another epoch", func() { place("n1", 3) }, true},
			{"and back", func() { place("n0", 4); place("n1", 5) }, true},
			{"the same again", func() { place("n1", 5) }, false},
			{"home", func() { place("n0", 1) }, true},
		} {
			o.Want("+OK", "WATCH", "k")
			step.do()
			o.Want("+OK", "MULTI")
			o.Want("+QUEUED", "INCR", "k")
			if got := o.Do("EXEC"); (got.Kind == '_') != step.nil {
				t.Errorf("client of node %d, %s: %s", i, step.name, got)
			}
		}
	}
}

// A key that expires while it is watched has changed, whether it is removed or not.
func TestWatchedKeyExpires(t *testing.T) {
	for _, passive := range []bool{false, true} {
		srv, addr := serveTest(t, nil)
		o := resptest.Dial(t, addr, 3)
		for ttl := 60; ; ttl *= 2 { // until it is watched before it expires
			o.Do("SET", "k", "v", "PX", strconv.Itoa(ttl))
			o.Do("WATCH", "k")
			if o.Do("EXISTS", "k").Text == "1" {
				break
			}
			o.Do("UNWATCH")
		}
		if passive {
			srv.store.SetActive() // nothing is removed by itself
		}
		for o.Do("EXISTS", "k").Text == "1" {
			time.Sleep(5 * time.Millisecond)
		}
		o.Do("MULTI")
		o.Do("PING")
		o.Want("_", "EXEC")
		srv.store.SetActive(ring.Whole)
		// One that had expired before does not change by being removed.
		o.Do("SET", "k", "v", "PX", "1")
		time.Sleep(5 * time.Millisecond)
		o.Do("WATCH", "k")
		o.Do("GET", "k")
		o.Do("MULTI")
		o.Do("PING")
		o.Want("*(+PONG)", "EXEC")
	}
}

// Transactions go to the one node that has their keys, or are refused as a whole.
func TestTransactionsOverNodes(t *testing.T) {
	r, keys := halves(t)
	for i := range r.servers {
		o := resptest.Dial(t, r.addrs[i], 2)
		for half, key := range keys {
			o.Send("MULTI")
			o.Send("SET", key, "1")
			o.Send("INCR", key)
			o.Send("PING")
			o.Send("EXEC")
			for _, want := range []string{"+OK", "+QUEUED", "+QUEUED", "+QUEUED", "*(+OK :2 +PONG)"} {
				if got := o.Next().String(); got != want {
					t.Errorf("node %d, half %d: %s, want %s", i, half, got, want)
				}
			}
		}
		for _, more := range []string{"PING", "DBSIZE"} {
			o.Do("MULTI")
			o.Do("INCR", keys[0])
			o.Do(more)
			o.Do("INCR", keys[1])
			o.Want("-"+msgCrossSlot, "EXEC")
		}
		o.Want("-"+msgCrossSlot, "WATCH", keys[0], keys[1])
		o.Want("$2", "GET", keys[0])
		o.Want("$2", "GET", keys[1])
		// A watched key elsewhere is no part of a transaction here, either.
		o.Do("WATCH", keys[0])
		o.Do("MULTI")
		o.Do("GET", keys[1])
		o.Want("-"+msgCrossSlot, "EXEC")
		o.Want("-ERR EXEC without MULTI", "EXEC")
	}
	o := resptest.Dial(t, r.addrs[0], 2)
	for _, words := range [][]string{{"RING", "EXEC", "0", "1", "PING"}, {"RING", "VIEW", "0", "1", "PING"}, {"RING", "WATCH", "a"}} {
		if got := o.Do(words...).String(); !strings.HasSuffix(got, "is what nodes send each other") {
			t.Errorf("%v: %s", words, got)
		}
		o.Do("MULTI")
		if got := o.Do(words...).String(); !strings.HasSuffix(got, "is what nodes send each other") {
			t.Errorf("%v in a transaction: %s", words, got)
		}
		o.Do("DISCARD")
	}
}

// On a redirect connection a command of a transaction is redirected when it is queued, and a
// transaction that lost its keys since, at its end.
func TestRedirectedTransactions(t *testing.T) {
	r, keys := halves(t)
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Do("RING", "ROUTE", "redirect")
	here, there := keys[0], keys[1]
	if o.Do("GET", here).Kind == '-' {
		here, there = there, here
	}
	moved := o.Do("GET", there).String()
	o.Do("MULTI")
	o.Want("+QUEUED", "SET", here, "1")
	o.Want(moved, "SET", there, "1")
	o.Want("-"+msgExecAbort, "EXEC")
	o.Want(moved, "WATCH", there)
	o.Want("+OK", "WATCH", here)
	o.Do("MULTI")
	o.Want("+QUEUED", "SET", here, "1")
	r.placeAll(oneOwner(t, "n1"))
	if got := o.Do("EXEC").String(); !strings.HasPrefix(got, "-MOVED") {
		t.Error(got)
	}
	o.Want("-ERR EXEC without MULTI", "EXEC")
}

// Whoever queues without end is refused, and what a client has queued is given back when it
// goes, or begins anew.
func TestQueueIsBounded(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.ClientMemory = 8 << 20 })
	before := srv.budget.InUse()
	for _, end := range []string{"EXEC", "DISCARD", "RESET", "QUIT", ""} {
		o := resptest.Dial(t, addr, 2)
		o.Do("MULTI")
		value := strings.Repeat("x", 100<<10)
		queued := 0
		for o.Do("SET", "k", value).Text == "QUEUED" {
			if queued++; queued > 1000 {
				t.Fatal("no bound")
			}
		}
		if queued < 10 {
			t.Errorf("only %d are queued", queued)
		}
		o.Want("+QUEUED", "SET", "k", "small")
		switch end {
		case "EXEC":
			o.Want("-"+msgExecAbort, "EXEC")
		case "":
			_ = o.C.Close()
		default:
			o.Do(end)
		}
		for i := 0; srv.budget.InUse() > before+64<<10; i++ {
			if i > 1000 {
				t.Fatalf("after %q %d bytes are charged", end, srv.budget.InUse())
			}
			if end != "" && end != "QUIT" {
				o.Do("PING")
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	o := resptest.Dial(t, addr, 2)
	o.Want("_$", "GET", "k")
}

// A large transaction that does not end is in the way of others no longer than another slow
// client.
func TestTransactionThatDoesNotEndIsSlow(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Do("MULTI")
	o.Do("SET", "k", strings.Repeat("x", 100<<10))
	c := srv.snapshot()[0]
	now := srv.clock()
	if c.slow(now) || !c.slow(now+stalledSender) {
		t.Errorf("slow at once: %v, later: %v", c.slow(now), c.slow(now+stalledSender))
	}
	o.Do("EXEC")
	if c.slow(srv.clock() + stalledSender) {
		t.Error("slow after EXEC")
	}
}

func TestClientListTellsOfTransactions(t *testing.T) {
	_, addr := serveTest(t, nil)
	o, other := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	want := func(field, flags string) {
		t.Helper()
		if list := other.Do("CLIENT", "LIST").Text; !strings.Contains(list, field) || !strings.Contains(list, flags) {
			t.Errorf("no %s, %s: %s", field, flags, list)
		}
	}
	o.Do("MULTI")
	want(" multi=0 ", " flags=x ")
	o.Do("GET", "a")
	o.Do("GET", "a")
	want(" multi=2 ", " flags=x ")
	o.Do("EXEC")
	if list := other.Do("CLIENT", "LIST").Text; strings.Count(list, " multi=-1 ") != 2 {
		t.Error(list)
	}
}

// Replies of a transaction are kept until its end; one that does not fit is an error, and
// the others are not.
func TestLargeRepliesInTransactions(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.OutputBuffer = 6 << 20 })
	o := resptest.Dial(t, addr, 2)
	value := strings.Repeat("x", 2<<20)
	o.Do("SET", "long", value)
	var pairs []string
	for i := range 300 {
		pairs = append(pairs, fmt.Sprint("f", i), value[:8<<10])
	}
	o.Do(append([]string{"HSET", "h"}, pairs...)...)
	o.Do("MULTI")
	for range 2 {
		o.Do("GET", "long")
		o.Do("HGETALL", "h")
	}
	o.Do("INCR", "n")
	got := o.Do("EXEC")
	if len(got.Elems) != 5 || got.Elems[0].Text != value || len(got.Elems[1].Elems) != 600 {
		t.Fatalf("%.300s", got)
	}
	if got.Elems[2].Kind != '-' || got.Elems[3].Kind != '-' || got.Elems[4].String() != ":1" {
		t.Errorf("%s %s %s", got.Elems[2], got.Elems[3], got.Elems[4])
	}
}

// A transaction shows others all that it has done or nothing, however many clients look.
func TestTransactionsAreIsolated(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(oneOwner(t, "n1"))
	ctx := t.Context()
	var clients sync.WaitGroup
	for i := range 4 {
		c := r.client(i % 2)
		clients.Go(func() {
			for n := range 200 {
				value := fmt.Sprint(i, ":", n)
				if i < 2 {
					if _, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
						p.Set(ctx, "{t}a", value, 0)
						p.HSet(ctx, "{t}h", "f", value)
						p.Set(ctx, "{t}b", value, 0)
						return nil
					}); err != nil {
						t.Error(err)
					}
					continue
				}
				var a, b, h *redis.StringCmd
				_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
					a, h, b = p.Get(ctx, "{t}a"), p.HGet(ctx, "{t}h", "f"), p.Get(ctx, "{t}b")
					return nil
				})
				if a.Val() != b.Val() || a.Val() != h.Val() || err != nil && !errors.Is(err, redis.Nil) {
					t.Errorf("%q, %q, %q, %v", a.Val(), h.Val(), b.Val(), err)
				}
			}
		})
	}
	clients.Wait()
}

func TestMonitorShowsTransactionsAndScriptsAsRedis(t *testing.T) {
	_, addr := serveTest(t, nil)
	redis := redistest.Start7(t)
	var seen [2][]string
	for i, addr := range []string{redis, addr} {
		m, o := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
		m.Do("MONITOR")
		for _, line := range []string{
			"MULTI", "SET a 1", "GET a", "EXEC", "multi", "PING", "GET a", "exec", "MULTI", "nosuch", "Exec", "MULTI", "GET a", "DISCARD",
			"WATCH a", "SET a 2", "MULTI", "GET a", "EXEC", "EVAL redis.call('set',KEYS[1],'x')return(redis.call('get',KEYS[1])) 1 a",
			"EVAL_RO return(1) 0", "MULTI", "EVAL return(redis.call('get','a')) 1 a", "GET a", "EXEC",
			"COPY a b DB 1", "MOVE a 2", "MULTI", "COPY b c DB 1", "SET a x", "MOVE a 3", "EXEC", "MOVE b 1", "PING last",
		} {
			o.Do(strings.Split(line, " ")...)
		}
		for len(seen[i]) == 0 || !strings.Contains(seen[i][len(seen[i])-1], "last") {
			from, words, _ := strings.Cut(m.Next().Text, "] ")
			_, from, _ = strings.Cut(from, " [")
			if number, client, _ := strings.Cut(from, " "); client == "lua" {
				words = number + " lua " + words
			} else {
				words = number + " " + words
			}
			seen[i] = append(seen[i], words)
		}
	}
	if want, got := strings.Join(seen[0], "\n"), strings.Join(seen[1], "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Libraries' transactions and optimistic locks work through any node, and on connections
// that are redirected.
func TestTransactionsOfLibraries(t *testing.T) {
	for _, redirect := range []bool{false, true} {
		r := routedSlots(t, 3)
		seed := randomtest.Seed(t)
		r.placeAll(r.withBackups(rand.New(rand.NewPCG(seed, 0))))
		for _, srv := range r.servers {
			srv.settings.Redirect.Store(redirect)
		}
		ctx := t.Context()
		cluster := redistest.ClusterClient(&redis.ClusterOptions{Addrs: r.addrs[:1]})
		t.Cleanup(func() { _ = cluster.Close() })
		for i := range 20 {
			key := fmt.Sprint("k", i)
			for range 3 {
				if err := cluster.Watch(ctx, func(tx *redis.Tx) error {
					n, err := tx.Get(ctx, key).Int()
					if err != nil && !errors.Is(err, redis.Nil) {
						return err
					}
					_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, key, n+1, 0).Err() })
					return err
				}, key); err != nil {
					t.Fatal(err)
				}
			}
			if n, err := cluster.Get(ctx, key).Int(); n != 3 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}
		c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: r.addrs[1:2], DisableCache: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		for i := range 20 {
			key := fmt.Sprint("r", i)
			err := c.Dedicated(func(c rueidis.DedicatedClient) error {
				if err := c.Do(ctx, c.B().Watch().Key(key).Build()).Error(); err != nil {
					return err
				}
				got := c.DoMulti(ctx, c.B().Multi().Build(), c.B().Incr().Key(key).Build(), c.B().Exec().Build())
				list, err := got[2].ToArray()
				if err == nil && len(list) != 1 {
					err = fmt.Errorf("%d replies", len(list))
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}
