package lease

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

// A node is refused once attempts have failed for long enough while it asked for leases, and is
// granted one after the first success.
func TestNodeThatAcceptsNoConnectionsIsRefused(t *testing.T) {
	g := Granter{Self: "leader"}
	now := time.Hour
	g.BeginTerm(1, now)
	a := NodeStart{"a", 1}
	ask := func() error { return g.Grant(a, 1, now, NodeCondition{}, 0) }
	// step is a second in which the node asks twice, and a round of attempts.
	step := func(reached bool) (err error) {
		for range 2 {
			g.NoteAwake(now)
			err = ask()
			now += RenewEvery
		}
		g.NoteAwake(now)
		g.Reach.Note("a", reached, now-reachStep, now)
		return err
	}
	for range 2 {
		if err := step(false); err != nil {
			t.Fatal(err)
		}
	}
	_ = step(true)
	for range 3 {
		if err := step(false); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		if err := ask(); !errors.Is(err, ErrUnreachable) {
			t.Fatalf("after 3 s: %v", err)
		}
		_ = step(false)
	}
	if !g.Reach.Report("a", now) || g.Reach.Report("a", now) {
		t.Error("not reported once")
	}
	g.Reach.Note("leader", false, now, now)
	if err := ask(); err != nil {
		t.Errorf("refused by a leader that is not reached: %v", err)
	}
	if !g.WaitsForSuccessor(now) || g.WaitsForSuccessor(now+PatienceForSelf) {
		t.Error("a leader that is not reached begins failovers at once, or never")
	}
	g.Reach.Note("leader", true, now, now)
	if err := ask(); !errors.Is(err, ErrUnreachable) {
		t.Errorf("refused no more: %v", err)
	}
	if !g.Reach.Note("a", true, now, now) || g.Reach.Note("a", true, now, now) {
		t.Error("its return is not reported once")
	}
	if err := ask(); err != nil {
		t.Errorf("once it is reached: %v", err)
	}
}

const reachStep = 100 * time.Millisecond

// Nodes that stood still, and leaders that did, take no lease away.
func TestStopsDoNotMakeNodesUnreachable(t *testing.T) {
	for name, stop := range map[string]func(g *Granter, now *time.Duration){
		"of the node": func(g *Granter, now *time.Duration) {
			for range 5 {
				*now += RenewEvery
				g.NoteAwake(*now)
				g.Reach.Note("a", false, *now, *now)
			}
		},
		"of the leader": func(g *Granter, now *time.Duration) {
			g.Reach.Note("a", false, *now, *now)
			*now += 10 * time.Second
			g.NoteAwake(*now)
			g.Reach.Note("a", false, *now, *now)
		},
		"of the leader in a round": func(g *Granter, now *time.Duration) {
			began := *now
			*now += 10 * time.Second
			g.NoteAwake(*now)
			g.Reach.Note("a", false, began, *now)
			g.Reach.Note("a", false, *now, *now)
		},
	} {
		g := Granter{Self: "leader"}
		now := time.Hour
		g.BeginTerm(1, now)
		a := NodeStart{"a", 1}
		if err := g.Grant(a, 1, now, NodeCondition{}, 0); err != nil {
			t.Fatal(err)
		}
		stop(&g, &now)
		if err := g.Grant(a, 1, now, NodeCondition{}, 0); err != nil {
			t.Errorf("after a stop %s: %v", name, err)
		}
	}
}

// By any history of rounds, a node is unreachable only if the last rounds failed, over 2 s at least.
func TestUnreachableNodesHaveFailedAllLastRounds(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var r Reach
		now, since, rounds := time.Hour, time.Duration(0), 0
		for range 100 {
			began := now
			now += time.Duration(rnd.Int64N(int64(time.Second)))
			reached := rnd.IntN(4) == 0
			r.Note("a", reached, began, now)
			switch {
			case reached:
				rounds = 0
			case rounds == 0:
				rounds, since = 1, began
			default:
				rounds++
			}
			want := rounds >= 2 && now-since >= unreachableAfter
			if got := r.IsUnreachable("a"); got != want {
				t.Fatalf("seed %d: %v after %d rounds in %v", seed, got, rounds, now-since)
			}
		}
	}
}

func TestOutcomeOfRound(t *testing.T) {
	type says struct {
		by string
		ReachReply
	}
	no := func(by, node string) says { return says{by, ReachReply{Unreached: []string{node}}} }
	yes := func(by, node string) says { return says{by, ReachReply{Reached: []string{node}}} }
	for _, tt := range []struct {
		name           string
		others         []string
		node           string
		said           []says
		reached, known bool
	}{
		{"nobody tells", []string{"a", "b"}, "a", nil, false, false},
		{"the leader reaches it", []string{"a", "b"}, "a", []says{yes("l", "a")}, true, true},
		{"another node reaches it", []string{"a", "b"}, "a", []says{no("l", "a"), yes("b", "a")}, true, true},
		{"the link of the leader", []string{"a", "b"}, "a", []says{no("l", "a")}, false, false},
		{"the link of another node", []string{"a", "b"}, "a", []says{no("b", "a")}, false, false},
		{"two do not reach it", []string{"a", "b", "c"}, "a", []says{no("l", "a"), no("b", "a")}, false, true},
		{"one of three reaches it", []string{"a", "b", "c"}, "a", []says{no("l", "a"), no("b", "a"), yes("c", "a")}, true, true},
		{"no third node", []string{"a"}, "a", []says{no("l", "a")}, false, true},
		{"its lease is over, with a third node", []string{"b"}, "a", []says{no("l", "a")}, false, false},
		{"the leader, by nobody", []string{"a", "b"}, "l", nil, false, false},
		{"the leader, not by one", []string{"a", "b"}, "l", []says{no("a", "l")}, false, true},
		{"the leader, by one of two", []string{"a", "b"}, "l", []says{no("a", "l"), yes("b", "l")}, true, true},
	} {
		r := NewReachRound("l", tt.others)
		for _, s := range tt.said {
			r.Add(s.by, s.ReachReply)
		}
		if reached, known := r.Outcome(tt.node); reached != tt.reached || known != tt.known {
			t.Errorf("%s: %v, %v", tt.name, reached, known)
		}
	}
}
