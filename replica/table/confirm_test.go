package table

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// An oldAnswers is a transport whose answers can be kept on their way.
type oldAnswers struct {
	raft.Transport
	mu   sync.Mutex
	kept chan struct{} // closed when they may go on; nil while none is kept
	deaf atomic.Bool   // what is sent from now on arrives nowhere
	ways atomic.Int64  // answers that are on their way
}

func (o *oldAnswers) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if o.deaf.Load() {
		time.Sleep(time.Minute)
		return errors.New("lost")
	}
	err := o.Transport.AppendEntries(id, target, args, resp)
	o.mu.Lock()
	kept := o.kept
	o.mu.Unlock()
	if kept != nil {
		o.ways.Add(1)
		<-kept
	}
	return err
}

func (o *oldAnswers) RequestPreVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	return o.Transport.(raft.WithPreVote).RequestPreVote(id, target, args, resp)
}

func (o *oldAnswers) keep() (release func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := make(chan struct{})
	o.kept = kept
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.kept = nil
		close(kept)
	}
}

// What others have answered before somebody asks says nothing of the moment in which they
// ask: a leader that was stopped meanwhile finds it when it goes on.
func TestEarlierAnswersDoNotConfirmLeadership(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		way := new(oldAnswers)
		g.change = func(cfg *Config) {
			if cfg.ID == "n0" {
				way.Transport = cfg.transport
				cfg.transport = way
			}
		}
		g.start(3)
		table := g.tables["n0"]
		g.until(func() bool { _, leads := table.Leader(); return leads && len(table.Voters()) == 3 }, "n0 leads three")
		term, err := table.Confirm(g.context())
		if err != nil || term != table.Term() {
			t.Fatalf("%d, %v", term, err)
		}
		release := way.keep()
		g.until(func() bool { return way.ways.Load() >= 2 }, "both others have answered")
		way.deaf.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		library := make(chan error, 1)
		confirmed := make(chan error, 1)
		go func() { library <- table.raft.VerifyLeader().Error() }()
		go func() { _, err := table.Confirm(ctx); confirmed <- err }()
		time.Sleep(time.Millisecond)
		release()
		if err := <-library; err != nil {
			t.Errorf("the library does not take old answers any more, %v: is this still needed?", err)
		}
		if err := <-confirmed; err == nil {
			t.Error("confirmed by old answers")
		}
		way.deaf.Store(false)
		time.Sleep(2 * time.Minute) // until nothing waits
	})
}

// A command that holds in one term is not applied in another.
func TestCommandOfOneTerm(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(3)
		leader := g.leader()
		weight := func() float64 { n, _ := leader.State().Node("n1"); return n.Weight }
		term, err := leader.Confirm(g.context())
		if err != nil {
			t.Fatal(err)
		}
		n, _ := leader.State().Node("n1")
		command := func(w float64) Command { return &SetWeight{"n1", n.Incarnation, w} }
		g.must(leader.ApplyIn(g.context(), term, command(2)))
		if weight() != 2 {
			t.Errorf("%v", weight())
		}
		if _, err := leader.ApplyIn(g.context(), term-1, command(3)); !errors.Is(err, ErrTerm) {
			t.Errorf("in a term that is over: %v", err)
		}
		// It got into the log of a later term all the same.
		done, err := leader.hand(g.context(), raft.Log{Data: Encode(command(4)), Extensions: binary.BigEndian.AppendUint64(nil, term-1)})
		if !errors.Is(err, ErrTerm) || done.index == 0 {
			t.Errorf("%+v, %v", done, err)
		}
		if weight() != 2 {
			t.Errorf("%v", weight())
		}
		other := g.tables[g.idle(leader)]
		if _, err := other.ApplyIn(g.context(), term, command(5)); !errors.Is(err, ErrTerm) {
			t.Errorf("by a node that does not lead: %v", err)
		}
		g.until(g.alike, "all tables are alike")
	})
}

func TestAloneUntilThereIsAnotherVote(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		first := g.open("n0")
		alone := func(t *Table) bool { _, is := t.Alone(); return is }
		if alone(first) {
			t.Error("without a cluster")
		}
		g.must(first.Found(g.context(), found("n0", 16)))
		g.until(func() bool { return alone(first) }, "n0 is alone")
		if begun, _ := first.Alone(); begun != 1 {
			t.Errorf("it has begun %d times", begun)
		}
		g.must(g.open("n1").Apply(g.context(), &Register{Node: "n1", Incarnation: 1}))
		g.until(func() bool { return len(first.servers()) == 2 }, "n1 follows")
		if !alone(first) || alone(g.tables["n1"]) {
			t.Error("n1 has no vote, but counts")
		}
		g.must(g.open("n2").Apply(g.context(), &Register{Node: "n2", Incarnation: 1}))
		g.until(func() bool {
			if len(first.Voters()) > 1 && alone(first) {
				t.Fatal("alone beside another vote")
			}
			return len(first.Voters()) == 3
		}, "all have a vote")
	})
}

// A pipeless is a transport that tells of pipelines.
type pipeless struct {
	oldAnswers
	asked *atomic.Int64
}

func (p *pipeless) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	p.asked.Add(1)
	return p.oldAnswers.AppendEntriesPipeline(id, target)
}

// The library's pipelines can stand still for good.
func TestEntriesTravelWithoutPipelines(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		var asked atomic.Int64
		g.change = func(cfg *Config) {
			cfg.transport = &pipeless{oldAnswers: oldAnswers{Transport: cfg.transport}, asked: &asked}
		}
		g.start(3)
		for i := range 100 {
			g.weigh(g.leader(), "n1", 1+float64(i))
		}
		g.until(g.alike, "all tables are alike")
		if n := asked.Load(); n > 0 {
			t.Errorf("%d pipelines were asked for", n)
		}
	})
}
