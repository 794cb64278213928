package table

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// A slowVote takes a while each way for what candidates ask.
type slowVote struct {
	*raft.InmemTransport
	latency time.Duration
}

func (s *slowVote) RequestVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	time.Sleep(s.latency)
	defer time.Sleep(s.latency)
	return s.InmemTransport.RequestVote(id, target, args, resp)
}

func (s *slowVote) RequestPreVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	time.Sleep(s.latency)
	defer time.Sleep(s.latency)
	return s.InmemTransport.RequestPreVote(id, target, args, resp)
}

// Two candidates that begin a few milliseconds apart must not each vote for itself: the next election
// comes after half a second, when leases have expired.
func TestCandidatesOfOneMomentDoNotSplitTheVote(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		const latency = 5 * time.Millisecond
		g.change = func(c *Config) {
			c.transport = &slowVote{c.transport.(*raft.InmemTransport), latency}
		}
		g.start(3)
		for lead := -60 * time.Millisecond; lead <= 60*time.Millisecond; lead += time.Millisecond {
			g.until(func() bool { return g.leader() != nil && g.voters() == 3 && g.alike() }, "three voters have a leader")
			leader := g.leader()
			time.Sleep(time.Second)
			var others []*Table
			for _, id := range g.others(leader.cfg.ID) {
				others = append(others, g.tables[id])
			}
			for _, other := range others {
				g.link(leader.cfg.ID, other.cfg.ID, false)
			}
			began := time.Now()
			time.Sleep(leader.cfg.HeartbeatTimeout + time.Millisecond)
			first, second := others[0], others[1]
			if lead < 0 {
				first, second = second, first
			}
			if err := first.checkElection(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(lead.Abs())
			if err := second.checkElection(); err != nil {
				t.Fatal(err)
			}
			leads := func(of *Table) bool { _, is := of.Leader(); return is }
			g.until(func() bool { return leads(first) || leads(second) }, "one of the two leads")
			if took := time.Since(began); took > 2*leader.cfg.HeartbeatTimeout {
				t.Errorf("with %v between the candidates, an election took %v", lead, took)
			}
			for _, other := range others {
				g.link(leader.cfg.ID, other.cfg.ID, true)
			}
			g.until(func() bool { return !leads(leader) }, "the one before follows")
		}
	})
}
