package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/ring"
)

// A fake node answers with what it is told to.
type fake struct {
	t       *testing.T
	addr    string
	mu      sync.Mutex
	info    map[string]any
	status  string
	refuses bool
	place   *ring.Placement
}

func newFake(t *testing.T, id string) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, addr: l.Addr().String(), place: owned(t, id+" other", "other "+id), info: map[string]any{
		"node": id, "run_id": "r1", "strategy": "buckets", "term": 1, "uptime_in_seconds": 1000,
	}}
	resptest.Serve(t, l, f.serve)
	return f
}

func (f *fake) set(fields map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, value := range fields {
		f.info[name] = value
	}
}

// refuse makes the node fail all commands, or answer them again.
func (f *fake) refuse(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuses = on
}

func (f *fake) serve(conn net.Conn) {
	c := resptest.NewRequests(conn)
	for {
		words, err := c.Next()
		if err != nil {
			return
		}
		f.mu.Lock()
		reply := f.reply(strings.ToUpper(strings.Join(words, " ")))
		f.mu.Unlock()
		if _, err := conn.Write([]byte(reply)); err != nil {
			return
		}
	}
}

func (f *fake) reply(words string) string {
	switch {
	case f.refuses:
		return "-ERR unknown command\r\n"
	case words == "RING INFO":
		var b strings.Builder
		for name, value := range f.info {
			fmt.Fprintf(&b, "%s:%v\r\n", name, value)
		}
		return resptest.Bulk(b.String())
	case strings.HasPrefix(words, "INFO"):
		return resptest.Bulk("# Server\r\nredis_version:7\r\n")
	case words == "RING PLACEMENT":
		b, err := f.place.MarshalBinary()
		if err != nil {
			f.t.Error(err)
		}
		return resptest.Bulk(string(b))
	case words == "RING STATUS JSON":
		return resptest.Bulk(f.status)
	}
	return "-ERR what?\r\n"
}

// still is a watch that looks when it is told to.
func still(t *testing.T, find func() []Node) *Watch {
	t.Helper()
	cfg := WatchConfig{Every: time.Hour}
	cfg.EnsureDefaults()
	w, err := newWatch(cfg, access{}, func(context.Context) ([]Node, error) { return find(), nil }).start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Stop() })
	return w
}

// sums are what a look adds up to.
func sums(t *testing.T, w *Watch, want counts) {
	t.Helper()
	if err := w.look(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := w.sum
	if got.moved != want.moved || got.forwarded != want.forwarded || got.executed != want.executed {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Sums only grow by what happens while they are watched, whatever nodes come, die, and count
// from zero again.
func TestSumsOutliveNodes(t *testing.T) {
	a, b := newFake(t, "a"), newFake(t, "b")
	count := func(moved, forwarded, executed int64) map[string]any {
		return map[string]any{
			"moved_keys": moved, "moved_bytes": 10 * moved, "handoffs_done": 1,
			"requests_forwarded": forwarded, "total_commands_processed": executed,
		}
	}
	up := []Node{{ID: "a", Addr: a.addr}}
	a.set(count(1000, 100, 5000)) // before anybody watched
	w := still(t, func() []Node { return up })
	a.set(count(1000, 100, 5000+asks))
	sums(t, w, counts{})
	a.set(count(1007, 110, 5100+2*asks))
	sums(t, w, counts{moved: Moved{7, 70, 0}, forwarded: 10, executed: 100})
	// A node that was there all the time, and is met only now, has nothing to say of before.
	b.set(count(500, 5, 50))
	up = append(up, Node{ID: "b", Addr: b.addr})
	a.set(count(1007, 110, 5100+3*asks))
	sums(t, w, counts{moved: Moved{7, 70, 0}, forwarded: 10, executed: 100})
	// One that has died is missed, and what it had moved stays.
	up = up[1:]
	b.set(count(501, 5, 50+asks))
	sums(t, w, counts{moved: Moved{8, 80, 0}, forwarded: 10, executed: 100})
	// It has started again, and counts from zero.
	up = append(up, Node{ID: "a", Addr: a.addr})
	a.set(map[string]any{"run_id": "r2", "uptime_in_seconds": 0})
	a.set(count(3, 2, 30))
	b.set(count(501, 5, 50+2*asks))
	sums(t, w, counts{moved: Moved{11, 110, 1}, forwarded: 12, executed: 130})
	// A new one has started since.
	c := newFake(t, "c")
	c.set(count(4, 0, 7))
	c.set(map[string]any{"uptime_in_seconds": 0})
	up = append(up, Node{ID: "c", Addr: c.addr})
	a.set(count(3, 2, 30+asks))
	b.set(count(501, 5, 50+3*asks))
	sums(t, w, counts{moved: Moved{15, 150, 2}, forwarded: 12, executed: 137})
}

// A connection that breaks is made anew, and nothing is counted twice.
func TestWatchConnectsAgain(t *testing.T) {
	a := newFake(t, "a")
	w := still(t, func() []Node { return []Node{{ID: "a", Addr: a.addr}} })
	a.set(map[string]any{"moved_keys": 5})
	sums(t, w, counts{moved: Moved{Keys: 5}})
	_ = w.nodes["a"].line.Conn.Close()
	if err := w.look(context.Background()); err == nil {
		t.Error("a broken connection answers")
	}
	a.set(map[string]any{"moved_keys": 6})
	sums(t, w, counts{moved: Moved{Keys: 6}})
}

func TestSamplesAndLayouts(t *testing.T) {
	a, b := newFake(t, "a"), newFake(t, "b")
	up := []Node{{ID: "a", Addr: a.addr}, {ID: "b", Addr: b.addr, Embedded: true}}
	w := still(t, func() []Node { return up })
	a.set(map[string]any{
		"own_keys_estimate": 10, "own_bytes_estimate": 100, "backup_keys_estimate": 5, "backup_bytes_estimate": 50,
		"primaries": 3, "backups": 2, "handoffs_running": 2, "used_memory_rss": 1 << 20,
		"moved_keys": 7, "moved_bytes": 70, "requests_forwarded": 25, "total_commands_processed": 60 + asks,
	})
	b.set(map[string]any{"own_keys_estimate": 1, "own_bytes_estimate": 9, "handoffs_running": 1, "total_commands_processed": 40 + asks, "requests_forwarded": 25})
	w.sample()
	w.sample()
	a.place = owned(t, "b a", "a")
	w.sample() // at the same term
	a.set(map[string]any{"term": 2})
	w.sample()
	a.set(map[string]any{"term": 3}) // without a change to be seen
	h, err := w.Holdings(context.Background())
	if err != nil || h.Nodes["a"] != (Holding{15, 150}) || h.Nodes["b"] != (Holding{1, 9}) || h.Total != (Holding{11, 109}) {
		t.Errorf("%+v, %v", h, err)
	}
	samples, layouts := w.Stop()
	if len(samples) != 5 {
		t.Fatalf("%d samples", len(samples))
	}
	s := samples[0]
	if s.Handoffs != 2 || s.MovedKeys != 7 || s.MovedBytes != 70 || s.Forwarded != 0.5 || len(s.Nodes) != 2 {
		t.Errorf("%+v", s)
	}
	n := s.Nodes[0]
	if n.Node != "a" || n.Keys != 15 || n.Bytes != 150 || n.Primaries != 3 || n.Backups != 2 || n.PerSecond <= 0 || n.Cores == nil || *n.MemoryBytes != 1<<20 {
		t.Errorf("%+v", n)
	}
	if n := s.Nodes[1]; n.Cores != nil || n.MemoryBytes != nil {
		t.Errorf("of a node that shares a process: %+v", n)
	}
	if s := samples[1]; s.MovedKeys != 0 || s.Forwarded != 0 || s.AtMS < samples[0].AtMS {
		t.Errorf("when nothing happens: %+v", s)
	}
	if got := fmt.Sprint(len(layouts), layouts[0].Nodes, layouts[0].Primary, layouts[0].Backup, layouts[len(layouts)-1].Primary); got != "2 [a b other] [0 2] [2 0] [1 0]" {
		t.Error(got)
	}
	if b := w.Balance(0, samples[4].AtMS+1); b == nil || b.Keys != 15./8 {
		t.Errorf("%+v", b)
	}
	if w.Balance(samples[4].AtMS+1, samples[4].AtMS+2) != nil {
		t.Error("a balance of no time")
	}
}

// A node that is up and does not answer for a while still holds what it held: without it, the rest would be
// taken for all keys there are, and what an event must move at the least comes out too low.
func TestSilentNodeKeepsItsHolding(t *testing.T) {
	a, b := newFake(t, "a"), newFake(t, "b")
	a.set(map[string]any{"own_keys_estimate": 10, "own_bytes_estimate": 100})
	b.set(map[string]any{"own_keys_estimate": 5, "own_bytes_estimate": 50})
	w := still(t, func() []Node { return []Node{{ID: "a", Addr: a.addr}, {ID: "b", Addr: b.addr}} })
	a.set(map[string]any{"own_keys_estimate": 11})
	b.refuse(true)
	h, err := w.Holdings(context.Background())
	if err != nil || h.Nodes["b"] != (Holding{5, 50}) || h.Total != (Holding{16, 150}) {
		t.Errorf("%+v, %v", h, err)
	}
	b.refuse(false)
	sums(t, w, counts{})
	b.set(map[string]any{"own_keys_estimate": 6})
	_ = w.nodes["b"].line.Conn.Close() // the first look fails, the second one dials
	if h, err = w.Holdings(context.Background()); err != nil || h.Total != (Holding{17, 150}) {
		t.Errorf("%+v, %v", h, err)
	}
}

// Of a cluster that runs somewhere one address is enough.
func TestWatchFindsTheOtherNodes(t *testing.T) {
	a, b := newFake(t, "a"), newFake(t, "b")
	a.status = fmt.Sprintf(`{"nodes":[{"id":"a","role":"store","state":"member","health":"alive","addr":%q},
		{"id":"b","role":"store","state":"member","health":"alive","addr":%q},
		{"id":"p","role":"proxy","state":"member","health":"alive","addr":"127.0.0.1:1"},
		{"id":"d","role":"store","state":"member","health":"failed","addr":"127.0.0.1:1"}]}`, a.addr, b.addr)
	d := &directory{addrs: []string{a.addr}}
	if found, err := d.find(context.Background()); err != nil || len(found) != 2 {
		t.Errorf("%v, %v", found, err)
	}
	told := make(chan result.Sample, 100)
	w, err := StartWatch(context.Background(), WatchConfig{Addrs: []string{a.addr}, Every: 50 * time.Millisecond, Sample: func(s result.Sample) { told <- s }})
	if err != nil {
		t.Fatal(err)
	}
	if s := <-told; len(s.Nodes) != 2 || s.Nodes[0].Node != "a" || s.Nodes[1].Node != "b" {
		t.Errorf("%+v", s)
	}
	w.Stop()
	a.refuses = true
	if _, err := StartWatch(context.Background(), WatchConfig{Addrs: []string{a.addr}}); !errors.Is(err, ErrNotRingside) {
		t.Errorf("of another server: %v", err)
	}
	if _, err := StartWatch(context.Background(), WatchConfig{Addrs: []string{"127.0.0.1:1"}}); err == nil {
		t.Error("of nobody")
	}
	for _, cfg := range []WatchConfig{{}, {Addrs: []string{a.addr}, Every: time.Millisecond}, {Addrs: []string{a.addr}, Username: "u"}} {
		if _, err := StartWatch(context.Background(), cfg); err == nil {
			t.Errorf("%+v", cfg)
		}
	}
}
