package members

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/serf/serf"
)

// records keeps what a logger is told of an error.
type records struct {
	mu     sync.Mutex
	texts  []string
	change chan struct{}
}

func newRecords() *records { return &records{change: make(chan struct{}, 1)} }

func (r *records) Enabled(context.Context, slog.Level) bool { return true }
func (r *records) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *records) WithGroup(string) slog.Handler            { return r }
func (r *records) Handle(_ context.Context, rec slog.Record) error {
	text := rec.Message
	rec.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	r.mu.Lock()
	r.texts = append(r.texts, text)
	r.mu.Unlock()
	signal(r.change)
	return nil
}

func (r *records) await(t *testing.T, words ...string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		texts := r.texts
		r.mu.Unlock()
		for _, text := range texts {
			has := true
			for _, word := range words {
				has = has && strings.Contains(text, word)
			}
			if has {
				t.Log(text)
				return
			}
		}
		select {
		case <-r.change:
		case <-deadline:
			t.Fatalf("%q is not logged:\n%s", words, strings.Join(texts, "\n"))
		}
	}
}

func TestStrangersAreRefusedByBoth(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Config)
		want   error
		// what the newcomer and the member should each be told
		newcomer, member []string
	}{
		{"cluster", func(c *Config) { c.Cluster = "other" }, ErrStranger,
			[]string{`node a at`, `cluster "test", here it is "other"`}, []string{`node b at`, `cluster "other", here it is "test"`}},
		{"strategy", func(c *Config) { c.Strategy = "vnode" }, ErrStranger,
			[]string{`node a at`, `strategy "buckets", here it is "vnode"`}, []string{`node b at`, `strategy "vnode", here it is "buckets"`}},
		{"hash", func(c *Config) { c.Hash = "slot" }, ErrStranger,
			[]string{`node a at`, `hash "native", here it is "slot"`}, []string{`node b at`, `hash "slot", here it is "native"`}},
		{"several", func(c *Config) { c.Hash, c.Cluster = "slot", "other" }, ErrStranger,
			[]string{`cluster "test"`, `hash "native"`}, []string{`cluster "other"`, `hash "slot"`}},
		{"key", func(c *Config) { c.Key = []byte("other") }, ErrKey,
			[]string{"node at 127.0.0.1:", "cluster key"}, []string{"node that connected from 127.0.0.1:", "cluster key"}},
		{"no key", func(c *Config) { c.Key = nil }, ErrKey,
			[]string{"node at 127.0.0.1:", "cluster key"}, []string{"node that connected from 127.0.0.1:", "cluster key"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			atMember, atNewcomer := newRecords(), newRecords()
			cfg := testConfig(t, "a", 1)
			cfg.Logger = slog.New(atMember)
			a := open(t, cfg)
			cfg = testConfig(t, "b", 1, addr(a))
			cfg.Logger = slog.New(atNewcomer)
			test.change(&cfg)
			b := open(t, cfg)
			err := awaitFatal(t, b)
			if !errors.Is(err, ErrStranger) || !errors.Is(err, test.want) {
				t.Error(err)
			}
			for _, word := range test.newcomer {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q is not in: %v", word, err)
				}
			}
			atNewcomer.await(t, append(test.newcomer, "refused")...)
			atMember.await(t, append(test.member, "refused")...)
			if len(a.Nodes()) != 1 || len(b.Nodes()) != 1 {
				t.Errorf("they know each other: %v, %v", a.Nodes(), b.Nodes())
			}
			notFatal(t, a)
		})
	}
}

func TestMembersWithAndWithoutKeyRefuseEachOther(t *testing.T) {
	cfg := testConfig(t, "a", 1)
	cfg.Key = nil
	told := newRecords()
	cfg.Logger = slog.New(told)
	a := open(t, cfg)
	b := start(t, "b", 1, addr(a))
	if err := awaitFatal(t, b); !errors.Is(err, ErrKey) {
		t.Error(err)
	}
	told.await(t, "node that connected from", "cluster key")
}

func TestJoinIgnoresStrangerAmongPeers(t *testing.T) {
	cfg := testConfig(t, "other", 1)
	cfg.Cluster = "other"
	other := open(t, cfg)
	told, names := newRecords(), newNames()
	a := start(t, "a", 1)
	_, port, _ := net.SplitHostPort(addr(a))
	cfg = testConfig(t, "b", 1, addr(other), net.JoinHostPort("late.example", port))
	cfg.Logger, cfg.Resolver = slog.New(told), names
	b := open(t, cfg)
	told.await(t, "refused a node of another cluster or with another key", `cluster "other"`)
	names.set("late.example", "127.0.0.1")
	awaitNode(t, b, "a", Alive, 1)
	notFatal(t, b)
}

func TestGateReadsAnything(t *testing.T) {
	cfg := testConfig(t, "a", 1)
	refusals := 0
	own := new(atomic.Pointer[tags])
	mine := cfg.tags()
	own.Store(&mine)
	g := &mergeGuard{own: own, refused: func(error) { refusals++ }}
	good := &serf.Member{Name: newStartID("b", 1).name(), Tags: map[string]string{tagKey: cfg.tags().encode()}}
	if err := g.NotifyMerge([]*serf.Member{good}); err != nil {
		t.Error(err)
	}
	for _, bad := range []*serf.Member{
		{},
		{Name: "b", Tags: good.Tags},
		{Name: good.Name},
		{Name: good.Name, Tags: map[string]string{tagKey: "x"}},
		{Name: good.Name, Tags: map[string]string{"role": "x"}},
	} {
		if err := g.NotifyMerge([]*serf.Member{good, bad}); !errors.Is(err, ErrStranger) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if refusals != 5 {
		t.Errorf("%d refusals are counted", refusals)
	}
	gone := &serf.Member{Name: "who", Status: serf.StatusLeft}
	if err := g.NotifyMerge([]*serf.Member{good, gone}); err != nil {
		t.Errorf("one that left long ago keeps two clusters apart: %v", err)
	}
}

func TestProtocolsThatMeetAreAccepted(t *testing.T) {
	own := tags{protocol: 3, oldest: 2}
	for _, test := range []struct {
		protocol, oldest uint64
		ok               bool
	}{{3, 2, true}, {2, 1, true}, {9, 3, true}, {9, 4, false}, {1, 1, false}} {
		err := own.checkCompatible(tags{protocol: test.protocol, oldest: test.oldest})
		if (err == nil) != test.ok {
			t.Errorf("protocol %d from %d: %v", test.protocol, test.oldest, err)
		}
	}
}

// Two clusters of one name keep apart, whoever was founded when, and both are told. A
// node that is in none yet may meet either.
func TestGenerationsKeepApart(t *testing.T) {
	cfg := testConfig(t, "a", 1)
	cfg.Generation = 7
	told := newRecords()
	cfg.Logger = slog.New(told)
	a := open(t, cfg)
	cfg = testConfig(t, "b", 1, addr(a))
	cfg.Generation = 8
	b := open(t, cfg)
	if err := awaitFatal(t, b); !errors.Is(err, ErrGeneration) || !errors.Is(err, ErrStranger) {
		t.Error(err)
	}
	told.await(t, "refused a node of another cluster or with another key", "node b at", `generation 8 of cluster "test", here it is 7`)

	c := start(t, "c", 1, addr(a))
	awaitNode(t, a, "c", Alive, 1)
	if err := c.SetGeneration(7); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		if n, _ := a.Node("c"); n.Generation == 7 {
			break
		}
		if time.Since(start) > patience {
			t.Fatal("a is not told of c's generation")
		}
	}
	d := start(t, "d", 1, addr(c))
	awaitNode(t, a, "d", Alive, 1)
	if err := d.SetGeneration(9); err != nil {
		t.Fatal(err)
	}
	told.await(t, "refused a node of another cluster or with another key", "node d at", `generation 9`)
	notFatal(t, a)
}

// A node of another cluster that is no more does not keep anyone out.
func TestFailedNodeOfAnotherGenerationDoesNotBlockJoins(t *testing.T) {
	own := new(atomic.Pointer[tags])
	cfg := testConfig(t, "a", 1)
	cfg.Generation = 7
	mine := cfg.tags()
	own.Store(&mine)
	g := &mergeGuard{own: own, refused: func(error) {}}
	cfg.Generation = 8
	other := &serf.Member{Name: newStartID("b", 1).name(), Tags: map[string]string{tagKey: cfg.tags().encode()}, Status: serf.StatusAlive}
	if err := g.NotifyMerge([]*serf.Member{other}); !errors.Is(err, ErrGeneration) {
		t.Error(err)
	}
	other.Status = serf.StatusFailed
	if err := g.NotifyMerge([]*serf.Member{other}); err != nil {
		t.Error(err)
	}
}
