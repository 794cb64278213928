package members

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
)

func awaitFatal(t *testing.T, m *Members) error {
	t.Helper()
	select {
	case err := <-m.Fatal():
		return err
	case <-time.After(patience):
		t.Fatalf("%s is not told to give up: %v", m.self.id, m.Nodes())
		return nil
	}
}

func notFatal(t *testing.T, m *Members) {
	t.Helper()
	select {
	case err := <-m.Fatal():
		t.Fatalf("%s is told to give up: %v", m.self.id, err)
	default:
	}
}

func TestFailureIsSeen(t *testing.T) {
	a := start(t, "a", 1)
	b := start(t, "b", 1, addr(a))
	c := start(t, "c", 1, addr(a))
	awaitNode(t, a, "c", Alive, 1)
	awaitNode(t, b, "c", Alive, 1)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	awaitNode(t, a, "c", Failed, 1)
	awaitNode(t, b, "c", Failed, 1)
	notFatal(t, a)
}

func TestRestartAtAnotherAddressReplacesADeadPredecessor(t *testing.T) {
	a := start(t, "a", 1)
	b := start(t, "b", 1, addr(a))
	awaitNode(t, a, "b", Alive, 1)
	before, _ := a.Node("b")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	awaitNode(t, a, "b", Failed, 1)
	b = start(t, "b", 2, addr(a))
	awaitNode(t, a, "b", Alive, 2)
	if after, _ := a.Node("b"); after.GossipAddr == before.GossipAddr || after.GossipAddr != addr(b) {
		t.Errorf("b was at %s, is at %s, and shows at %s", before.GossipAddr, addr(b), after.GossipAddr)
	}
	if len(a.Nodes()) != 2 {
		t.Errorf("b shows twice: %v", a.Nodes())
	}
}

func TestRestartReplacesAPredecessorThatIsNotYetMissed(t *testing.T) {
	slow := Fast()
	slow.ProbeInterval, slow.SuspicionMult = time.Hour, 1000 // nobody is ever missed
	first := testConfig(t, "a", 1)
	first.Timing = slow
	a := open(t, first)
	second := testConfig(t, "b", 1, addr(a))
	second.Timing = slow
	b := open(t, second)
	awaitNode(t, a, "b", Alive, 1)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	second.Incarnation = 2
	b = open(t, second)
	awaitNode(t, a, "b", Alive, 2)
	if n, _ := a.Node("b"); n.GossipAddr != addr(b) {
		t.Errorf("b is at %s, and shows at %s", addr(b), n.GossipAddr)
	}
	notFatal(t, b)
}

func TestEarlierStartsAreForgotten(t *testing.T) {
	told := newRecords()
	cfg := testConfig(t, "a", 1)
	cfg.Logger = slog.New(told)
	a := open(t, cfg)
	for incarnation := uint64(1); incarnation <= 3; incarnation++ {
		b := start(t, "b", incarnation, addr(a))
		awaitNode(t, a, "b", Alive, incarnation)
		if incarnation < 3 {
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	told.await(t, "EventMemberReap", "b#1#")
	told.await(t, "EventMemberReap", "b#2#")
	awaitNode(t, a, "b", Alive, 3)
}

func TestEarlierOfTwoNodesWithOneIDGivesUp(t *testing.T) {
	a := start(t, "a", 1)
	earlier := start(t, "twin", 4, addr(a))
	awaitNode(t, a, "twin", Alive, 4)
	later := start(t, "twin", 5, addr(a))
	err := awaitFatal(t, earlier)
	if !errors.Is(err, ErrReplaced) {
		t.Error(err)
	}
	t.Log(err)
	awaitNode(t, a, "twin", Alive, 5)
	notFatal(t, later)
	notFatal(t, a)
}

func TestStartFromAnOldCopyGivesUp(t *testing.T) {
	a := start(t, "a", 1)
	current := start(t, "twin", 5, addr(a))
	awaitNode(t, a, "twin", Alive, 5)
	old := start(t, "twin", 4, addr(a))
	if err := awaitFatal(t, old); !errors.Is(err, ErrReplaced) {
		t.Error(err)
	}
	awaitNode(t, a, "twin", Alive, 5)
	notFatal(t, current)
}

func TestOneOfTwoCopiesGivesUp(t *testing.T) {
	a := start(t, "a", 1)
	twins := []*Members{start(t, "twin", 7, addr(a)), start(t, "twin", 7, addr(a))}
	loser, winner := 0, 1
	select {
	case err := <-twins[0].Fatal():
		if !errors.Is(err, ErrReplaced) {
			t.Error(err)
		}
	case err := <-twins[1].Fatal():
		loser, winner = 1, 0
		if !errors.Is(err, ErrReplaced) {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("nobody gives up")
	}
	want := addr(twins[winner])
	for _, m := range []*Members{a, twins[winner], twins[loser]} {
		await(t, m, "the same twin as all others", func() bool {
			n, ok := m.Node("twin")
			return ok && n.GossipAddr == want
		})
	}
	notFatal(t, twins[winner])
}

func TestNodeThatLeftMayBeginAnew(t *testing.T) {
	a := start(t, "a", 1)
	b := start(t, "b", 9, addr(a))
	awaitNode(t, a, "b", Alive, 9)
	awaitNode(t, b, "a", Alive, 1)
	if err := b.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitNode(t, a, "b", Left, 9)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = start(t, "b", 1, addr(a)) // its directory is new
	awaitNode(t, a, "b", Alive, 1)
	awaitNode(t, b, "a", Alive, 1)
	notFatal(t, b)
}

func TestForgottenNodeMayBeginAnew(t *testing.T) {
	a := start(t, "a", 1)
	b := start(t, "b", 9, addr(a))
	c := start(t, "c", 1, addr(a))
	awaitNode(t, a, "b", Alive, 9)
	awaitNode(t, c, "b", Alive, 9)
	awaitNode(t, a, "c", Alive, 1)
	if err := a.Forget("b"); err == nil {
		t.Error("a live node is forgotten")
	}
	if err := a.Forget("x"); err == nil {
		t.Error("an unknown node is forgotten")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	awaitNode(t, a, "b", Failed, 9)
	awaitNode(t, c, "b", Failed, 9)
	if err := a.Forget("b"); err != nil {
		t.Fatal(err)
	}
	await(t, a, "b forgotten", func() bool { _, ok := a.Node("b"); return !ok })
	await(t, c, "b forgotten", func() bool { _, ok := c.Node("b"); return !ok })
	b = start(t, "b", 1, addr(c))
	awaitNode(t, a, "b", Alive, 1)
	awaitNode(t, c, "b", Alive, 1)
	notFatal(t, b)
}

// Node does not return a node once Forget has returned. No other member is there
// for whom Forget waits.
func TestForgottenNodeIsUnknownAtOnce(t *testing.T) {
	a := start(t, "a", 1)
	b := start(t, "b", 9, addr(a))
	awaitNode(t, a, "b", Alive, 9)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	awaitNode(t, a, "b", Failed, 9)
	if err := a.Forget("b"); err != nil {
		t.Fatal(err)
	}
	if n, ok := a.Node("b"); ok {
		t.Errorf("%+v is known although it was forgotten", n)
	}
}

// A node that looks learns which nodes there are and how they place keys, and they do not see it.
func TestLookShowsNodesAndIsNotSeen(t *testing.T) {
	told := newRecords()
	cfg := testConfig(t, "a", 1)
	cfg.Logger = slog.New(told)
	a := open(t, cfg)
	twin := start(t, "twin", 4, addr(a))
	awaitNode(t, a, "twin", Alive, 4)
	before := a.Nodes()
	look := func(cfg Config) Seen {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		got, err := Look(ctx, cfg)
		if err != nil {
			t.Error(err)
		}
		return got
	}
	elsewhere := testConfig(t, "twin", 5, "127.0.0.1:1", addr(a)) // no node answers at the first address
	elsewhere.Strategy, elsewhere.Hash = "ketama", "md5"
	got := look(elsewhere)
	if got.Strategy != cfg.Strategy || got.Hash != cfg.Hash {
		t.Errorf("they place by %s and %s", got.Strategy, got.Hash)
	}
	var ids []string
	for _, n := range got.Nodes {
		ids = append(ids, n.ID+" "+n.BusAddr)
	}
	if slices.Sort(ids); !slices.Equal(ids, []string{"a " + cfg.BusAddr, "twin " + twin.cfg.BusAddr}) {
		t.Errorf("it sees %v", ids)
	}
	foreign, other := elsewhere, elsewhere
	foreign.Key = []byte("another key")
	other.Cluster = "other"
	for _, cfg := range []Config{foreign, other, testConfig(t, "twin", 5, "127.0.0.1:1"), testConfig(t, "twin", 5)} {
		if got := look(cfg); got.Nodes != nil || got.Strategy != "" {
			t.Errorf("%s of %s sees %+v", cfg.ID, cfg.Cluster, got)
		}
	}
	if after := a.Nodes(); !slices.Equal(after, before) {
		t.Errorf("there is %+v, there was %+v", after, before)
	}
	told.await(t, "it only looks")
	told.mu.Lock()
	for _, text := range told.texts {
		if strings.Contains(text, "refused a node") && !strings.Contains(text, ErrKey.Error()) {
			t.Error(text)
		}
	}
	told.mu.Unlock()
	notFatal(t, twin)
	notFatal(t, a)
}
