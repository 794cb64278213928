package table

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-metrics"
	"github.com/hashicorp/raft"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// weigh is a command that can be repeated and tells states apart.
func (g *group) weigh(at *Table, id string, weight float64) {
	g.t.Helper()
	n, _ := at.State().Node(id)
	g.must(at.Apply(g.context(), &SetWeight{id, n.Incarnation, weight}))
}

func (g *group) votes(id string) bool {
	leader := g.leader()
	if leader == nil {
		return false
	}
	for _, s := range leader.servers() {
		if string(s.Address) == id {
			return s.Suffrage == raft.Voter
		}
	}
	return false
}

func (g *group) idle(at *Table) string {
	for _, id := range g.others("") {
		if id != at.cfg.ID && g.votes(id) {
			return id
		}
	}
	g.t.Fatal("no other node votes")
	return ""
}

func TestRestartedGroupHasItsTable(t *testing.T) {
	virtually(t, t.TempDir(), func(t *testing.T, g *group) {
		g.start(3)
		g.weigh(g.tables["n2"], "n2", 2.5)
		g.until(g.alike, "all tables are alike")
		want := mustBytes(t, g.tables["n0"].State())
		g.close()
		for i := range 3 {
			g.open(nodeID(i))
		}
		g.until(func() bool { return g.leader() != nil && g.alike() && mustBytes(t, g.tables["n1"].State()) == want }, "the table of before is everywhere")
		g.weigh(g.tables["n1"], "n1", 2)
	})
}

func TestSnapshotsBringBackAndCatchUp(t *testing.T) {
	virtually(t, t.TempDir(), func(t *testing.T, g *group) {
		g.start(3)
		away := g.idle(g.leader())
		g.kill(away)
		at := g.leader()
		for i := range 50 {
			g.weigh(at, "n0", float64(1+i%5))
		}
		for _, id := range g.others("") {
			if err := g.tables[id].raft.Snapshot().Error(); err != nil {
				t.Fatal(err)
			}
		}
		back := g.open(away)
		g.until(g.alike, "who was away has caught up by a snapshot")
		g.weigh(back, "n0", 7)
		want := mustBytes(t, back.State())
		g.close()
		for i := range 3 {
			g.open(nodeID(i))
		}
		g.until(func() bool { return g.leader() != nil && g.alike() && mustBytes(t, g.tables["n0"].State()) == want }, "snapshots and logs make the same table")
	})
}

func TestLeaderOnTheSmallSideDecidesNothing(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(3)
		old := g.leader()
		id := old.cfg.ID
		before := mustBytes(t, old.State())
		g.mu.Lock()
		g.cut[id] = true
		g.wires[id].DisconnectAll()
		for _, w := range g.wires {
			w.Disconnect(raft.ServerAddress(id))
		}
		g.mu.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := old.Apply(ctx, &SetWeight{"n0", 1, 4}); !errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("a leader without its majority: %v", err)
		}
		if err := old.VerifyLeader(ctx); err == nil {
			t.Error("a leader without its majority is confirmed")
		}
		_, err := old.Apply(ctx, &SetWeight{"n0", 1, 4})
		if !errors.Is(err, ErrNoLeader) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a node without a leader: %v", err)
		}
		if mustBytes(t, old.State()) != before {
			t.Error("the small side has decided something")
		}
		other := g.tables[g.others("")[0]]
		g.weigh(other, "n0", 9)
		g.mu.Lock()
		delete(g.cut, id)
		for node, w := range g.wires {
			if node != id {
				w.Connect(raft.ServerAddress(id), g.wires[id])
				g.wires[id].Connect(raft.ServerAddress(node), w)
			}
		}
		g.mu.Unlock()
		g.until(g.alike, "both sides have one table again")
		if n, _ := old.State().Node("n0"); n.Weight != 9 {
			t.Errorf("what the large side decided is lost: %v", n.Weight)
		}
	})
}

func TestDeadVoterIsReplacedByALiveNode(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(4)
		dead := g.idle(g.leader())
		g.kill(dead)
		g.until(func() bool { return g.voters() == 3 && !g.votes(dead) }, "another has the vote of %s", dead)
	})
}

// slowLeader is a sink of the library's metrics that delays a leader after it has told its
// replications of a new entry. A follower then acknowledges the entry before the leader
// goes on.
type slowLeader struct{ *metrics.BlackholeSink }

func (slowLeader) AddSampleWithLabels(key []string, _ float32, _ []metrics.Label) {
	if strings.Join(key, ".") == "raft.leader.dispatchLog" {
		pause(10 * time.Millisecond)
	}
}

// slowTo is a transport whose entries reach one node late.
type slowTo struct {
	*raft.InmemTransport
	node *atomic.Pointer[string]
}

func (s slowTo) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if slow := s.node.Load(); slow != nil && *slow == string(target) && len(args.Entries) > 0 {
		pause(20 * time.Millisecond)
	}
	return s.InmemTransport.AppendEntries(id, target, args, resp)
}

func pause(d time.Duration) { <-time.After(d) }

// The change of votes commits also where the new voter acknowledges it before the leader
// counts that voter, and the old voters acknowledge it after that.
func TestDeadVoterIsReplacedWhenNewVoterAcknowledgesFirst(t *testing.T) {
	sinkTo := func(sink metrics.MetricSink) {
		if _, err := metrics.NewGlobal(&metrics.Config{FilterDefault: true}, sink); err != nil {
			t.Fatal(err)
		}
	}
	defer sinkTo(&metrics.BlackholeSink{})
	virtually(t, "", func(t *testing.T, g *group) {
		var slow atomic.Pointer[string]
		g.change = func(c *Config) { c.transport = slowTo{c.transport.(*raft.InmemTransport), &slow} }
		g.start(4)
		dead := g.idle(g.leader())
		g.kill(dead)
		other := g.idle(g.leader())
		slow.Store(&other)
		sinkTo(slowLeader{&metrics.BlackholeSink{}})
		g.until(func() bool { return g.voters() == 3 && !g.votes(dead) }, "another has the vote of %s", dead)
	})
}

func TestLeavingAndForgettingTakeVotesAway(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(3)
		// n0 has all ranges, so it is n1 and n2 that can be forgotten; one of them
		// should lead, and resign.
		if leader := g.leader(); leader.cfg.ID == "n0" {
			if err := leader.raft.LeadershipTransfer().Error(); err != nil {
				t.Fatal(err)
			}
		}
		g.until(func() bool { l := g.leader(); return l != nil && l.cfg.ID != "n0" }, "another than n0 leads")
		id := g.leader().cfg.ID
		at := g.tables["n0"]
		g.must(at.Apply(g.context(), &Leave{id, 1}))
		g.until(func() bool { l := g.leader(); return l != nil && l.cfg.ID != id && !g.votes(id) && g.voters() == 1 }, "%s has no vote", id)
		g.must(at.Apply(g.context(), &Forget{id, 1}))
		g.until(func() bool { return len(g.leader().servers()) == 2 }, "%s is out of the group", id)
	})
}

func TestNewDirectoryIsANewServer(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(3)
		id := g.idle(g.leader())
		old := g.tables[id].Server()
		g.kill(id)
		again := g.open(id)
		if again.Server() == old {
			t.Fatal("an empty directory has an old id")
		}
		if _, err := again.Apply(g.context(), &Register{Node: id, Incarnation: 1}); !errors.Is(err, ErrIncarnation) {
			t.Errorf("a directory that knows of no start before: %v", err)
		}
		g.must(again.Apply(g.context(), &Register{Node: id, Incarnation: 2}))
		g.until(func() bool {
			if g.leader() == nil || g.voters() != 3 || !g.alike() {
				return false
			}
			for _, s := range g.leader().servers() {
				if string(s.ID) == old {
					return false
				}
			}
			return g.votes(id)
		}, "the new server has the place of the old one")
	})
}

func TestProxyFollowsWithoutAVote(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(2)
		p := g.open("p")
		g.must(p.Apply(g.context(), &Register{Node: "p", Incarnation: 1, Role: Proxy}))
		third := g.open("n2")
		g.must(third.Apply(g.context(), &Register{Node: "n2", Incarnation: 1}))
		g.until(func() bool { return g.voters() == 3 && g.alike() }, "three stores vote")
		if g.votes("p") {
			t.Error("a proxy votes")
		}
		if len(p.State().MembersOf()) != 3 {
			t.Errorf("the strategy sees %v", p.State().MembersOf())
		}
	})
}

func TestLostReplyIsAnUnknownOutcome(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(2)
		at := g.tables["n1"]
		at.cfg.Forward = func(ctx context.Context, node string, message []byte) ([]byte, error) {
			_, _ = g.forward(ctx, "n1", node, message)
			return nil, errors.New("the connection broke")
		}
		if _, err := at.Apply(g.context(), &SetWeight{"n0", 1, 4}); !errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("%v", err)
		}
		g.until(func() bool { n, _ := at.State().Node("n0"); return n.Weight == 4 }, "the table tells")
	})
}

func TestRefusalKeepsItsReasonOverTheWire(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(2)
		_, here := g.tables["n0"].Apply(g.context(), &Forget{"n0", 1})
		_, there := g.tables["n1"].Apply(g.context(), &Forget{"n0", 1})
		if !errors.Is(here, ErrCopies) || !errors.Is(there, ErrCopies) || here.Error() != there.Error() {
			t.Errorf("%v; %v", here, there)
		}
	})
	for number, reason := range refusals {
		done, _, err := readReply(reply(outcome{index: 3}, fmt.Errorf("because: %w", reason)))
		if !errors.Is(err, reason) || done.index != 3 || reasonOf(err) != number {
			t.Errorf("%v arrives as %v", reason, err)
		}
	}
}

func TestNodeStopsAtAnEntryThatItDoesNotUnderstand(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(1)
		at := g.tables["n0"]
		before := mustBytes(t, at.State())
		if err := at.raft.Apply([]byte{99, 1, 2}, 0).Error(); err != nil {
			t.Fatal(err)
		}
		g.until(func() bool { return at.Fault() != nil }, "the fault is told")
		if _, err := at.Apply(g.context(), &SetWeight{"n0", 1, 4}); !errors.Is(err, ErrUnknownOutcome) || mustBytes(t, at.State()) != before {
			t.Errorf("it goes on: %v", err)
		}
		if reply, err := at.HandleForward(t.Context(), []byte{messageCommand, 99}); err != nil {
			t.Error(err)
		} else if _, _, err := readReply(reply); !errors.Is(err, ErrInvalid) {
			t.Errorf("such a thing is proposed: %v", err)
		}
	})
}

func TestLogWithoutItsServerIDIsRefused(t *testing.T) {
	dir := t.TempDir()
	fakenet.Bubble(t, func(t *testing.T) {
		g := newGroup(t, dir)
		g.open("n0")
		g.close()
		if err := os.Remove(filepath.Join(dir, "n0", serverFile)); err != nil {
			t.Fatal(err)
		}
		if table, err := Open(g.config("n0")); !errors.Is(err, ErrDamaged) {
			t.Errorf("%v, %v", table, err)
		}
	})
}

func TestConfigReportsEveryFault(t *testing.T) {
	_, err := Open(Config{HeartbeatTimeout: time.Second, LeaderLease: 2 * time.Second})
	if !errors.Is(err, ErrConfig) {
		t.Fatal(err)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 6 {
		t.Errorf("%v", err)
	}
}

func TestClosedTableSaysSo(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(1)
		at := g.tables["n0"]
		g.kill("n0")
		if _, err := at.Apply(t.Context(), &SetWeight{"n0", 1, 4}); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if _, err := at.HandleForward(t.Context(), []byte{messageProbe}); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if at.State().Len() != 16 {
			t.Error("its state cannot be read any more")
		}
	})
}
