package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/members"
)

// A listener notes what a client hears that has subscribed to all key events, or to other
// patterns.
type listener struct {
	client *redis.Client
	pubsub *redis.PubSub
	done   sync.WaitGroup

	mu    sync.Mutex
	heard map[string]int // channel and message
	order []string
}

func (c *virtualCluster) listen(id string, patterns ...string) *listener {
	c.t.Helper()
	l := &listener{client: c.client(id), heard: make(map[string]int)}
	l.pubsub = l.client.PSubscribe(context.Background(), patterns...)
	for range patterns {
		if _, err := l.pubsub.Receive(context.Background()); err != nil {
			c.t.Fatal(err)
		}
	}
	l.done.Go(func() {
		for {
			m, err := l.pubsub.ReceiveMessage(context.Background())
			if err != nil {
				return
			}
			l.mu.Lock()
			l.heard[m.Channel+" "+m.Payload]++
			l.order = append(l.order, m.Channel+" "+m.Payload)
			l.mu.Unlock()
		}
	})
	return l
}

func (l *listener) times(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard[what]
}

// all are channels and messages in their order.
func (l *listener) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.order)
}

func (l *listener) close() {
	_ = l.pubsub.Close()
	_ = l.client.Close()
	l.done.Wait()
}

// notices has all nodes tell events, by way of one of them.
func (c *virtualCluster) notices(id, classes string) {
	c.t.Helper()
	client := c.client(id)
	defer func() { _ = client.Close() }()
	if err := client.ConfigSet(context.Background(), "notify-keyspace-events", classes).Err(); err != nil {
		c.t.Fatal(err)
	}
}

// Whoever has subscribed, through any node, hears of each acknowledged write once, whichever
// node has made it, while nodes join, leave and crash.
func TestEventsOfAcknowledgedWritesAreHeardOnce(t *testing.T) {
	randomtest.Draw(t, 3)
	if testing.Short() {
		t.Skip("a large run in virtual time")
	}
	virtually(t, 1, func(t *testing.T, seed uint64) {
		pause, least := 3*time.Millisecond, 1000 // between writes, and how many there are
		if isBrief() {
			pause, least = 15*time.Millisecond, 200
		}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.backed()
		c.notices("a", "E$")
		listeners := map[string]*listener{"a": c.listen("a", "__keyevent@0__:set", "__keyevent@0__:gap"), "c": c.listen("c", "__key*")}
		ctx, cancel := context.WithCancel(context.Background())
		var writers sync.WaitGroup
		var mu sync.Mutex
		acknowledged, failed := make(map[string]bool), 0
		for _, id := range []string{"a", "c"} {
			client := c.client(id)
			writers.Go(func() {
				defer func() { _ = client.Close() }()
				for i := 0; ctx.Err() == nil; i++ {
					key := fmt.Sprint(id, i)
					err := client.Set(context.Background(), key, i, 0).Err()
					mu.Lock()
					if err == nil {
						acknowledged[key] = true
					} else {
						failed++
					}
					mu.Unlock()
					time.Sleep(pause)
				}
			})
		}
		time.Sleep(time.Second)
		c.start("d", "a", "c")
		time.Sleep(3 * time.Second)
		c.crash("b")
		time.Sleep(8 * time.Second)
		c.start("b", "a", "c")
		time.Sleep(3 * time.Second)
		ctxLeave, cancelLeave := context.WithTimeout(context.Background(), time.Minute)
		if err := c.nodes["d"].Leave(ctxLeave); err != nil {
			t.Error(err)
		}
		cancelLeave()
		c.stop("d")
		time.Sleep(3 * time.Second)
		cancel()
		writers.Wait()
		time.Sleep(time.Second)
		if len(acknowledged) < least || failed > 5 {
			t.Errorf("%d writes were acknowledged, %d failed", len(acknowledged), failed)
		}
		for id, l := range listeners {
			for key := range acknowledged {
				if n := l.times("__keyevent@0__:set " + key); n != 1 {
					t.Errorf("through %s: %s was told %d times", id, key, n)
				}
			}
			// What b has done last, and nobody was told that it is, may be missing.
			if n := l.times("__keyevent@0__:gap b"); n != 1 {
				t.Errorf("through %s: %d gaps of b", id, n)
			}
			for what, n := range l.heard {
				if strings.HasPrefix(what, "__keyevent@0__:gap") && what != "__keyevent@0__:gap b" {
					t.Errorf("through %s: %s, %d times", id, what, n)
				}
			}
			l.close()
		}
		t.Logf("%d writes were acknowledged, %d failed", len(acknowledged), failed)
		c.close()
	})
}

// A node that stands still is not waited for, and says afterwards that it has missed some.
func TestGapInEventsIsReported(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			if cfg.ID == "w" {
				cfg.Role = RoleProxy
			}
		})
		c.three()
		c.start("w", "a")
		time.Sleep(3 * time.Second)
		c.notices("w", "KEA")
		l := c.listen("w", "__keyspace@0__:*")
		client, key := c.client("a"), c.ownKey("a")
		set := func(n int) (took time.Duration) {
			began := time.Now()
			if err := client.Set(context.Background(), key, n, 0).Err(); err != nil {
				t.Error(err)
			}
			return time.Since(began)
		}
		if set(1); l.times("__keyspace@0__:"+key+" set") != 1 {
			time.Sleep(time.Second)
		}
		c.net.Freeze(c.nodes["w"].ip, true)
		if took := set(2); took < time.Second || took > 2*time.Second+100*time.Millisecond {
			t.Errorf("a write whose event one node does not confirm took %v", took)
		}
		if took := set(3); took > 100*time.Millisecond {
			t.Errorf("the next write took %v", took)
		}
		c.net.Freeze(c.nodes["w"].ip, false)
		time.Sleep(3 * time.Second)
		set(4)
		time.Sleep(time.Second)
		if n := l.times("__keyevent@0__:gap a"); n != 1 {
			t.Errorf("%d gaps: %v", n, l.all())
		}
		if all := l.all(); all[len(all)-1] != "__keyspace@0__:"+key+" set" {
			t.Errorf("the last was %s", all[len(all)-1])
		}
		l.close()
		_ = client.Close()
		c.close()
	})
}

// A message reaches everybody who has subscribed before it was sent, through any node, even
// one without keys; it is counted, and messages of one client come in order.
func TestMessagesReachTheWholeCluster(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			if cfg.ID == "w" {
				cfg.Role = RoleProxy
			}
		})
		c.three()
		c.start("w", "a")
		time.Sleep(3 * time.Second)
		var listeners []*listener
		ids := c.running()
		for _, id := range ids {
			listeners = append(listeners, c.listen(id, "news*"))
		}
		for _, id := range ids {
			client := c.client(id)
			for i := range 50 {
				if n, err := client.Publish(t.Context(), "news", fmt.Sprint(id, i)).Result(); int(n) != len(ids) || err != nil {
					t.Fatalf("through %s: %d, %v", id, n, err)
				}
			}
			pipe := client.Pipeline()
			for i := range 50 {
				pipe.Publish(t.Context(), "news", fmt.Sprint(id, 50+i))
			}
			if _, err := pipe.Exec(t.Context()); err != nil {
				t.Error(err)
			}
			_ = client.Close()
		}
		time.Sleep(time.Second)
		for i, l := range listeners {
			at, all := 0, l.all()
			for _, id := range ids {
				for n := range 100 {
					if want := fmt.Sprint("news ", id, n); at >= len(all) || all[at] != want {
						t.Fatalf("%s misses %s", ids[i], want)
					}
					at++
				}
			}
			l.close()
		}
		// Nobody waits for long for a node that stands still.
		c.net.Freeze(c.nodes["b"].ip, true)
		client := c.client("w")
		began := time.Now()
		if err := client.Publish(t.Context(), "news", "x").Err(); err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		c.net.Freeze(c.nodes["b"].ip, false)
		_ = client.Close()
		c.close()
	})
}

// What a node does as soon as it has started again is told, too, although it does not know
// yet what others want to know. If it does not hear that at first, either, there is a gap.
func TestStartedNodeSendsEventsAtOnce(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(cfg *Config) { cfg.Backups = 0 })
		c.three()
		ids := c.running()
		lead := slices.IndexFunc(ids, func(id string) bool { return engineTable{c.nodes[id].cluster.table}.Leads() })
		if lead < 0 {
			t.Fatal("nobody leads")
		}
		listens, starts := ids[(lead+1)%3], ids[(lead+2)%3]
		c.notices(listens, "E$")
		l, client := c.listen(listens, "__keyevent@0__:*"), c.client(ids[lead])
		var keys []string
		for i := 0; len(keys) < 60; i++ {
			cl := c.nodes[starts].cluster
			key := fmt.Sprint("key", i)
			if row, ok := cl.table.State().Row(cl.strategy.Token([]byte(key))); ok && row.Primary == starts {
				keys = append(keys, key)
			}
		}
		for deaf := false; len(keys) > 0; deaf = !deaf {
			c.stop(starts)
			var writers sync.WaitGroup
			writers.Go(func() { // it waits until the node is back
				for i := range 20 {
					if err := client.Set(context.Background(), keys[i], "v", 0).Err(); err != nil {
						t.Errorf("%s: %v", keys[i], err)
					}
				}
			})
			time.Sleep(50 * time.Millisecond)
			gaps := l.times("__keyevent@0__:gap " + starts)
			c.start(starts, ids[lead])
			c.net.Mute(c.nodes[listens].ip, c.nodes[starts].ip, deaf)
			time.Sleep(300 * time.Millisecond)
			c.net.Mute(c.nodes[listens].ip, c.nodes[starts].ip, false)
			writers.Wait()
			time.Sleep(time.Second)
			gaps = l.times("__keyevent@0__:gap "+starts) - gaps
			for _, key := range keys[:20] {
				if n := l.times("__keyevent@0__:set " + key); n != 1 && (gaps == 0 || n > 1) {
					t.Errorf("%s was told %d times", key, n)
				}
			}
			if gaps > 0 && !deaf {
				t.Errorf("%d gaps", gaps)
			}
			keys = keys[20:]
			time.Sleep(6 * time.Second)
		}
		l.close()
		_ = client.Close()
		c.close()
	})
}

// What a node does that was cut off is told as soon as it serves again, or that it is missing:
// it does not wait until gossip has found the nodes that it takes for failed.
func TestReconnectedNodeSendsEventsAgain(t *testing.T) {
	cutOff(t, true, func(*virtualCluster, string, string) {})
}

// The same where nobody wanted events before it was cut off.
func TestReconnectedNodeLearnsNewSubscriptions(t *testing.T) {
	cutOff(t, false, func(c *virtualCluster, listens, _ string) { c.notices(listens, "E$") })
}

// The same where it has started meanwhile and knows nobody.
func TestNodeStartedWhileCutOffSendsEvents(t *testing.T) {
	cutOff(t, true, func(c *virtualCluster, lead, cut string) {
		c.crash(cut)
		c.start(cut, lead)
		time.Sleep(10 * time.Second)
	})
}

// cutOff has a node cut off, something happen meanwhile, and writes of its keys wait for it. Where
// it does not hear who listens at first, when it is back, some may be missing, and a gap tells so.
func cutOff(t *testing.T, wanted bool, meanwhile func(c *virtualCluster, listens, cut string)) {
	virtually(t, 4, func(t *testing.T, seed uint64) {
		deaf := seed%2 > 0
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(cfg *Config) { cfg.Backups = 0 })
		c.three()
		ids := c.running()
		lead := slices.Index(ids, c.leader())
		listens, cut := ids[(lead+1)%3], ids[(lead+2)%3]
		if wanted {
			c.notices(listens, "E$")
		}
		client, cl := c.client(ids[lead]), c.nodes[cut].cluster
		st := cl.table.State()
		key := func(n int) string {
			for i := n * 1000; ; i++ {
				key := fmt.Sprint("key", i)
				if row, ok := st.Row(cl.strategy.Token([]byte(key))); ok && row.Primary == cut {
					return key
				}
			}
		}
		time.Sleep(tellAll + 2*time.Second) // what it tells at its start is over
		c.net.Move(1, c.nodes[cut].ip)
		time.Sleep(20 * time.Second)
		if !slices.ContainsFunc(cl.members.Nodes(), func(n members.Node) bool { return n.ID == listens && n.Status == members.Failed }) {
			t.Fatalf("%s does not take %s for failed", cut, listens)
		}
		meanwhile(c, listens, cut)
		l := c.listen(listens, "__keyevent@0__:*")
		gap := "__keyevent@0__:gap " + cut
		type write struct {
			key  string
			gaps int // told before
		}
		var writes []write
		var writing sync.WaitGroup
		writing.Go(func() {
			for end := time.Now().Add(9 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				w := write{key(len(writes)), l.times(gap)}
				if err := client.Set(context.Background(), w.key, "v", 0).Err(); err == nil {
					writes = append(writes, w)
				}
			}
		})
		time.Sleep(time.Second)
		c.net.Mute(c.nodes[listens].ip, c.nodes[cut].ip, deaf)
		c.net.Move(0, c.nodes[cut].ip)
		time.Sleep(2 * time.Second)
		c.net.Mute(c.nodes[listens].ip, c.nodes[cut].ip, false)
		writing.Wait()
		time.Sleep(time.Second)
		told := 0
		for _, w := range writes {
			switch n := l.times("__keyevent@0__:set " + w.key); {
			case n == 1:
				told++
			case n > 1 || l.times(gap) == w.gaps:
				t.Errorf("%s was told %d times", w.key, n)
			}
		}
		if len(writes) < 50 || told < len(writes)/2 || !deaf && told < len(writes)*9/10 {
			t.Errorf("%d of %d writes were told", told, len(writes))
		}
		t.Logf("deaf %t: %d of %d writes were told, %d gaps", deaf, told, len(writes), l.times(gap))
		l.close()
		_ = client.Close()
		c.close()
	})
}

// A node that does not hear in time what is wanted is not waited for; what it has done until it
// does is a gap.
func TestEventsThatANodeDidNotNoteAreAGap(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		time.Sleep(tellAll + 2*time.Second)
		ids := c.running()
		lead := slices.Index(ids, c.leader())
		listens, deaf := ids[(lead+1)%3], ids[(lead+2)%3]
		c.net.Mute(c.nodes[listens].ip, c.nodes[deaf].ip, true)
		began := time.Now()
		c.notices(listens, "E$")
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("a node that does not hear it was waited for, %v", took)
		}
		l, client, key := c.listen(listens, "__keyevent@0__:*"), c.client(deaf), c.ownKey(deaf)
		set := func() {
			if err := client.Set(context.Background(), key, "v", 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		set()
		time.Sleep(time.Second)
		told, gap := "__keyevent@0__:set "+key, "__keyevent@0__:gap "+deaf
		if l.times(told) > 0 || l.times(gap) > 0 {
			t.Errorf("it does not know: %v", l.all())
		}
		c.net.Mute(c.nodes[listens].ip, c.nodes[deaf].ip, false)
		c.within(10*time.Second, "a gap", func() bool { return l.times(gap) > 0 })
		set()
		c.within(time.Second, "the next event", func() bool { return l.times(told) > 0 })
		if all := l.all(); len(all) != 2 {
			t.Errorf("told %v", all)
		}
		l.close()
		_ = client.Close()
		c.close()
	})
}
