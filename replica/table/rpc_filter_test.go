package table

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// A withholding keeps configurations from servers.
type withholding struct {
	*raft.InmemTransport
	keeps func(target raft.ServerAddress, next []raft.Server) bool
}

func (w *withholding) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	for _, entry := range args.Entries {
		if entry.Type == raft.LogConfiguration && w.keeps(target, raft.DecodeConfiguration(entry.Data).Servers) {
			return errors.New("withheld")
		}
	}
	return w.InmemTransport.AppendEntries(id, target, args, resp)
}

func countVoters(servers []raft.Server) (n int) {
	for _, s := range servers {
		if s.Suffrage == raft.Voter {
			n++
		}
	}
	return n
}

// The leader ends when a majority knows that there is a third vote, but not the second
// voter: the two that are left are a majority, and have to agree on who leads.
func TestNewVoterVotesBeforeItKnows(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.change = func(c *Config) {
			c.transport = &withholding{c.transport.(*raft.InmemTransport), func(target raft.ServerAddress, next []raft.Server) bool {
				return target == "n1" && countVoters(next) == 3
			}}
		}
		leader := g.open("n0")
		g.change = nil
		g.must(leader.Found(g.context(), found("n0", 16)))
		for _, id := range []string{"n1", "n2"} {
			g.must(g.open(id).Apply(g.context(), &Register{Node: id, Incarnation: 1, Intact: true}))
		}
		g.until(func() bool { return len(g.tables["n2"].Voters()) == 3 }, "n2 knows of three voters")
		if n := len(g.tables["n1"].Voters()); n == 3 {
			t.Fatal("n1 knows of three voters")
		}
		g.kill("n0")
		killed := time.Now()
		g.until(func() bool { return g.leader() != nil }, "one of the two leads")
		t.Logf("%v after the leader was killed there is one", time.Since(killed))
		g.must(g.tables["n1"].Apply(g.context(), &SetWeight{"n1", 1, 2}))
		g.until(g.alike, "both have one table")
	})
}

// The leader ends after it has sent the entry that takes away a vote to the server that loses it,
// and to no other: the three that are left are a majority of four voters, and have to agree on who leads.
func TestDemotionThatReachedOnlyTheDemotedServerLeavesALeader(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		var demoted atomic.Pointer[raft.Server]
		g.change = func(c *Config) {
			c.transport = &withholding{c.transport.(*raft.InmemTransport), func(target raft.ServerAddress, next []raft.Server) bool {
				s := demoted.Load()
				return s != nil && target != s.Address && countVoters(next) == 3 && !hasVote(next, s.ID)
			}}
		}
		g.start(4)
		leader := g.leader()
		for _, s := range leader.servers() {
			if s.Suffrage == raft.Voter && string(s.Address) != leader.cfg.ID {
				demoted.Store(&s)
			}
		}
		s := *demoted.Load()
		g.must(leader.Apply(g.context(), &Leave{Node: string(s.Address), Incarnation: 1}))
		g.until(func() bool { return countVoters(leader.servers()) == 3 && !hasVote(leader.servers(), s.ID) }, "the leader has the entry")
		time.Sleep(time.Second)
		if got := g.tables[string(s.Address)].Voters(); len(got) != 4 {
			t.Logf("%s has heard that %v vote", s.Address, got)
		}
		g.kill(leader.cfg.ID)
		killed := time.Now()
		g.until(func() bool { return g.leader() != nil }, "one of the three leads")
		t.Logf("%v after the leader was killed there is one", time.Since(killed))
		demoted.Store(nil)
		g.must(g.leader().Apply(g.context(), &SetWeight{"n1", 1, 2}))
		g.until(g.alike, "all have one table")
		g.until(func() bool { return !slices.Contains(g.tables[string(s.Address)].Voters(), string(s.Address)) }, "%s hears that it has no vote", s.Address)
	})
}
