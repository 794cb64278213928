package node

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// A cachingClient keeps what it has read until it is told that that has changed, or loses its
// connection.
type cachingClient struct {
	c       *virtualCluster
	at      string
	addr    string
	options []string
	conn    net.Conn
	replies chan string
	reading sync.WaitGroup

	mu     sync.Mutex
	cached map[string]int
	asked  string // the key of the GET under way

	hits, misses, told, stale int
}

// connect returns whether the client is connected to its node, and tracked.
func (cl *cachingClient) connect() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := cl.c.net.Host("10.0.1.2").Dial(ctx, cl.addr)
	if err != nil {
		return false
	}
	cl.conn, cl.replies = conn, make(chan string, 1)
	cl.reading.Go(func() { cl.read(resptest.NewReader(conn)) })
	if cl.ask("HELLO", "3") == "" || cl.ask(append([]string{"CLIENT", "TRACKING", "ON"}, cl.options...)...) != "OK" {
		cl.close()
		return false
	}
	return true
}

func (cl *cachingClient) close() {
	_ = cl.conn.Close()
	cl.reading.Wait()
	cl.conn = nil
}

// ask returns the reply to a command, "" if the connection is lost.
func (cl *cachingClient) ask(words ...string) string {
	if words[0] == "GET" {
		cl.mu.Lock()
		cl.asked = words[1]
		cl.mu.Unlock()
	}
	if _, err := cl.conn.Write(resptest.EncodeCommands([][]string{words})); err != nil {
		return ""
	}
	select {
	case reply := <-cl.replies:
		return reply
	case <-time.After(15 * time.Second):
		return ""
	}
}

// read takes in replies and what is pushed, in their order.
func (cl *cachingClient) read(r *resptest.Reader) {
	defer func() {
		cl.mu.Lock()
		clear(cl.cached)
		cl.mu.Unlock()
		close(cl.replies)
	}()
	for {
		v, err := r.Read()
		if err != nil {
			return
		}
		cl.mu.Lock()
		if v.Kind == '>' && len(v.Elems) == 2 && v.Elems[0].Text == "invalidate" {
			cl.told++
			for _, key := range v.Elems[1].Elems {
				delete(cl.cached, key.Text)
			}
			if v.Elems[1].Kind == '_' {
				clear(cl.cached)
			}
			cl.mu.Unlock()
			continue
		}
		text := v.Text
		if v.Kind == '-' || text == "" {
			text = v.String()
		}
		if n, err := strconv.Atoi(text); err == nil && cl.asked != "" {
			cl.cached[cl.asked] = n
		}
		cl.asked = ""
		cl.mu.Unlock()
		cl.replies <- text
	}
}

// writtenKeys are what is known of keys that grow: each has one writer.
type writtenKeys struct {
	mu    sync.Mutex
	acked map[string][]ackedValue
}

type ackedValue struct {
	value int
	at    time.Time
}

// least is what a key was at least, for everybody, at a time.
func (w *writtenKeys) least(key string, at time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.acked[key]
	for _, v := range slices.Backward(list) {
		if !v.at.After(at) {
			return v.value
		}
	}
	return 0
}

// cachingDelay is more than a message takes from a node to a client: delays of the network
// are 2 ms at most.
const cachingDelay = 20 * time.Millisecond

// run reads random keys until the context ends. What is cached must not be older than
// what was acknowledged before a message's time ago.
func (cl *cachingClient) run(ctx context.Context, rnd *rand.Rand, w *writtenKeys, keys int, pause time.Duration) {
	for ctx.Err() == nil {
		if cl.conn == nil && !cl.connect() {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		key := fmt.Sprint("cached", rnd.IntN(keys))
		cl.mu.Lock()
		v, hit := cl.cached[key]
		least := w.least(key, time.Now().Add(-cachingDelay))
		cl.mu.Unlock()
		switch {
		case hit && v < least:
			cl.hits++
			if cl.stale++; cl.stale <= 3 {
				cl.c.say("at %s %v: %s is cached as %d, %d was acknowledged %v ago", cl.at, cl.options, key, v, least, cachingDelay)
			}
		case hit:
			cl.hits++
		default:
			cl.misses++
			if cl.ask("GET", key) == "" {
				cl.close()
			}
		}
		time.Sleep(pause)
	}
	if cl.conn != nil {
		cl.close()
	}
}

// Nobody who keeps what was read, through any node, keeps it for longer than a message takes
// after a change was acknowledged, made through any node, while nodes join, leave, crash and
// do not reach each other.
func TestNoClientOfAClusterKeepsStaleValue(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("a large run in virtual time")
	}
	virtually(t, 1, func(t *testing.T, seed uint64) {
		pause := 4 * time.Millisecond
		if isBrief() {
			pause = 15 * time.Millisecond
		}
		const keys = 30
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			if cfg.ID == "w" {
				cfg.Role = RoleProxy
			}
		})
		c.backed()
		c.start("w", "a")
		time.Sleep(3 * time.Second)
		ctx, cancel := context.WithCancel(context.Background())
		w := &writtenKeys{acked: make(map[string][]ackedValue)}
		var running sync.WaitGroup
		var readers []*cachingClient
		for i, at := range []string{"a", "b", "c", "w", "a", "w"} {
			cl := &cachingClient{c: c, at: at, addr: c.nodes[at].ip + ":6379", cached: make(map[string]int)}
			if i >= 4 {
				cl.options = []string{"BCAST", "PREFIX", "cached"}
			}
			readers = append(readers, cl)
			running.Go(func() { cl.run(ctx, rand.New(rand.NewPCG(seed, uint64(i))), w, keys, pause) })
		}
		acknowledged, failed := 0, 0
		for i, at := range []string{"a", "c", "w"} {
			client, rnd := c.client(at), rand.New(rand.NewPCG(seed, uint64(100+i)))
			running.Go(func() {
				defer func() { _ = client.Close() }()
				for n := 1; ctx.Err() == nil; n++ {
					key := fmt.Sprint("cached", 3*rnd.IntN(keys/3)+i)
					err := client.Set(context.Background(), key, n, 0).Err()
					w.mu.Lock()
					if err == nil {
						w.acked[key] = append(w.acked[key], ackedValue{n, time.Now()})
						acknowledged++
					} else {
						failed++
					}
					w.mu.Unlock()
					time.Sleep(10 * pause)
				}
			})
		}
		time.Sleep(time.Second)
		c.start("d", "a", "c")
		time.Sleep(3 * time.Second)
		// Two nodes that do not reach each other, though all others reach both.
		for _, on := range []bool{true, false} {
			c.net.Mute(c.nodes["a"].ip, c.nodes["c"].ip, on)
			c.net.Mute(c.nodes["c"].ip, c.nodes["a"].ip, on)
			time.Sleep(3 * time.Second)
		}
		// One that only a node without keys reaches: that has to forget what it keeps of it
		// before another serves it.
		for _, on := range []bool{true, false} {
			for _, other := range []string{"a", "c", "d"} {
				c.net.Mute(c.nodes["b"].ip, c.nodes[other].ip, on)
				c.net.Mute(c.nodes[other].ip, c.nodes["b"].ip, on)
			}
			time.Sleep(4 * time.Second)
		}
		c.crash("b")
		time.Sleep(6 * time.Second)
		c.start("b", "a", "c")
		time.Sleep(3 * time.Second)
		ctxLeave, cancelLeave := context.WithTimeout(context.Background(), time.Minute)
		if err := c.nodes["d"].Leave(ctxLeave); err != nil {
			t.Error(err)
		}
		cancelLeave()
		c.stop("d")
		time.Sleep(2 * time.Second)
		cancel()
		running.Wait()
		c.say("%d writes were acknowledged, %d failed", acknowledged, failed)
		for _, cl := range readers {
			c.say("at %s %v: %d hits, %d misses, told %d times", cl.at, cl.options, cl.hits, cl.misses, cl.told)
			if cl.stale > 0 {
				t.Errorf("at %s %v: %d reads of what is cached were stale", cl.at, cl.options, cl.stale)
			}
			if cl.hits < cl.misses/2 { // each write, and each end of a connection, makes for misses
				t.Errorf("at %s %v: caching is of no use: %d hits, %d misses", cl.at, cl.options, cl.hits, cl.misses)
			}
		}
		if acknowledged < 50 {
			t.Errorf("%d writes were acknowledged", acknowledged)
		}
		c.close()
	})
}

// A node that stands still is waited for only as long as it may take what it keeps for true;
// its clients hear that all may have changed as soon as it goes on.
func TestWritesContinueWithoutFrozenNode(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			if cfg.ID == "w" {
				cfg.Role = RoleProxy
			}
		})
		c.three()
		c.start("w", "a")
		time.Sleep(3 * time.Second)
		client, key := c.client("a"), c.ownKey("a")
		set := func(n int) (took time.Duration) {
			began := time.Now()
			if err := client.Set(context.Background(), key, n, 0).Err(); err != nil {
				t.Error(err)
			}
			return time.Since(began)
		}
		cl := &cachingClient{c: c, at: "w", addr: c.nodes["w"].ip + ":6379", cached: make(map[string]int)}
		has := func() int {
			cl.mu.Lock()
			defer cl.mu.Unlock()
			return cl.cached[key]
		}
		set(1)
		if !cl.connect() || cl.ask("GET", key) != "1" || has() != 1 {
			t.Fatal("the value is not cached")
		}
		if took := set(2); took > 100*time.Millisecond {
			t.Errorf("a write that a node has to hear of took %v", took)
		}
		if time.Sleep(cachingDelay); has() != 0 || cl.ask("GET", key) != "2" || has() != 2 {
			t.Error("the change was not told")
		}
		c.net.Freeze(c.nodes["w"].ip, true)
		if took := set(3); took < 500*time.Millisecond || took > 1500*time.Millisecond {
			t.Errorf("a write that a node does not hear of took %v", took)
		}
		if took := set(4); took > 100*time.Millisecond {
			t.Errorf("the next one took %v", took)
		}
		c.net.Freeze(c.nodes["w"].ip, false)
		if time.Sleep(3 * time.Second); has() != 0 {
			t.Errorf("what a node keeps that stood still is %d", has())
		}
		if cl.ask("GET", key) != "4" || has() != 4 {
			t.Error("it does not go on")
		}
		cl.close()
		_ = client.Close()
		c.close()
	})
}
