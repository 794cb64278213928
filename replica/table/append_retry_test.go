package table

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// Without the table a node has no lease, however long it was away.
func TestReturningNodeHasTheTableAtOnce(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(3)
		leader, _ := g.leader().Leader()
		away := g.others(leader)[0]
		for _, d := range []time.Duration{100 * time.Millisecond, 2 * time.Second, 20 * time.Second, 3 * time.Minute} {
			for _, other := range g.others(away) {
				g.link(away, other, false)
			}
			<-time.After(d)
			done, err := g.tables[leader].Apply(g.context(), &SetWeight{"n1", 1, d.Seconds()})
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range g.others(away) {
				g.link(away, other, true)
			}
			back := time.Now()
			if err := g.tables[away].Wait(g.context(), done.Index); err != nil {
				t.Fatal(err)
			}
			t.Logf("away for %v, it had the table after %v", d, time.Since(back))
			if time.Since(back) > time.Second {
				t.Error("that is a long pause")
			}
			if now, _ := g.leader().Leader(); now != leader {
				t.Fatalf("%s leads", now)
			}
		}
	})
}

// What is sent to a server that was removed ends, and so does what an office is over for.
func TestRetryEndsWithItsTerm(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(3)
		leader := g.leader()
		term := leader.raft.CurrentTerm()
		for _, s := range leader.servers() {
			if !leader.stillSends(s.ID, term) {
				t.Errorf("nothing is sent to %s", s.Address)
			}
			if leader.stillSends(s.ID, term-1) {
				t.Error("an office that is over goes on")
			}
			if on := g.tables[string(s.Address)]; on != leader && on.stillSends(s.ID, term) {
				t.Errorf("%s does not lead", s.Address)
			}
		}
		if leader.stillSends(raft.ServerID("nobody"), term) {
			t.Error("a server that is none goes on")
		}
	})
}

// Word that gets lost while a server is out of reach is sent anew as soon as it is back, and
// not when its time is over.
func TestLostEntriesAreSentAgain(t *testing.T) {
	var w links
	lost, back := w.state("s")
	if lost {
		t.Error("a server of which nothing is known is lost")
	}
	w.answered("s")
	select {
	case <-back:
		t.Error("a server that was never lost is back")
	default:
	}
	w.failed("s")
	w.failed("s")
	if lost, _ = w.state("s"); !lost {
		t.Error("a server that does not answer is there")
	}
	w.answered("s")
	select {
	case <-back:
	default:
		t.Error("nobody is told that the server is back")
	}
	lost, back = w.state("s")
	if lost {
		t.Error("a server that answers is lost")
	}
	select {
	case <-back:
		t.Error("it is back twice")
	default:
	}
}

// Who waits for an entry while its leader is closed gets an answer, since the leader goes on
// to reach the others until nobody waits.
func TestLeaderAnswersPendingEntriesWhenClosed(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(3)
		leader := g.leader()
		applied := make(chan error, 1)
		for i := range 50 {
			go func() {
				_, err := leader.Apply(g.context(), &SetWeight{"n1", 1, float64(i + 1)})
				applied <- err
			}()
		}
		closed := make(chan error, 1)
		go func() { closed <- leader.Close() }()
		for range 50 {
			<-applied
		}
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(3 * time.Minute):
			t.Fatal("it is not closed after a minute")
		}
	})
}
