package table

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// A withholding keeps the configuration with so many voters from a server.
type withholding struct {
	*raft.InmemTransport
	from   raft.ServerAddress
	voters int
}

func (w *withholding) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	for _, entry := range args.Entries {
		if target != w.from || entry.Type != raft.LogConfiguration {
			continue
		}
		voters := 0
		for _, s := range raft.DecodeConfiguration(entry.Data).Servers {
			if s.Suffrage == raft.Voter {
				voters++
			}
		}
		if voters == w.voters {
			return errors.New("withheld")
		}
	}
	return w.InmemTransport.AppendEntries(id, target, args, resp)
}

// The leader ends when a majority knows that there is a third vote, but not the second
// voter: the two that are left are a majority, and have to agree on who leads.
func TestNewVoterVotesBeforeItKnows(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.change = func(c *Config) {
			c.transport = &withholding{c.transport.(*raft.InmemTransport), "n1", 3}
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
