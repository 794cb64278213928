package table

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// caughtUpWithin is how many entries a server may be behind and still count as having
// caught up: under load no server is ever at the very end.
const caughtUpWithin = 64

// changeTimeout bounds the wait for one change of the configuration to be accepted.
const changeTimeout = 2 * time.Second

// maxAsked bounds how many servers without a vote are asked at a time whether they
// could have one.
const maxAsked = 32

// groupUpkeep is what the leader does about the group's own configuration. Its goroutine
// runs on every node and sleeps where there is no leader.
type groupUpkeep struct {
	// silent is since when a voter has not answered. Only the goroutine uses it.
	silent map[string]time.Time
	// term is the one whose leader has applied all that came before it. Who leads
	// with an old table would put out servers that it has not heard of yet.
	term uint64
	// nodes are those of the last round, and leaving those of them that held copies still.
	nodes   []Node
	leaving map[string]bool
}

func (u *groupUpkeep) start(t *Table) {
	u.silent = make(map[string]time.Time)
	seen := make(chan raft.Observation, 16)
	observer := raft.NewObserver(seen, false, func(o *raft.Observation) bool {
		_, is := o.Data.(raft.LeaderObservation)
		return is
	})
	t.raft.RegisterObserver(observer)
	changed, cancel := t.Changes()
	t.running.Go(func() {
		defer t.raft.DeregisterObserver(observer)
		defer cancel()
		tick := time.NewTicker(t.cfg.UpkeepInterval)
		defer tick.Stop()
		for {
			select {
			case <-t.ctx.Done():
				return
			case <-seen:
				t.listeners.notify()
				continue // telling has made changed ready
			case <-changed:
				if !u.isAffected(t) {
					continue
				}
			case <-tick.C:
			}
			t.updateAlone()
			if _, isSelf := t.Leader(); !isSelf {
				clear(u.silent)
				continue
			}
			if err := u.run(t); err != nil && t.ctx.Err() == nil {
				t.cfg.Logger.Warn("changing the Raft servers failed, trying again", "node", t.cfg.ID, "err", err)
			}
		}
	})
}

// isAffected reports whether what has changed is a matter of the group: who leads, who
// is there, or that a node that leaves has handed over its last copy. Rows change far too often to ask everyone each time.
func (u *groupUpkeep) isAffected(t *Table) bool {
	if len(u.leaving) > 0 && len(t.State().leavingHolders()) < len(u.leaving) {
		return true
	}
	return u.term != t.raft.CurrentTerm() || !slices.EqualFunc(u.nodes, t.State().nodes, func(a, b Node) bool {
		return a.ID == b.ID && a.Server == b.Server && a.Role == b.Role && a.State == b.State
	})
}

// run does what is missing, and hands the leadership over if this node does not follow the table,
// or ceases to meanwhile.
func (u *groupUpkeep) run(t *Table) error {
	if t.Fault() == nil {
		if err := u.changeServers(t); t.Fault() == nil {
			return err
		}
	}
	return t.transferLeadership()
}

// changeServers does what is missing, one change after the other; what fails is tried again on
// the next round.
func (u *groupUpkeep) changeServers(t *Table) error {
	if term := t.raft.CurrentTerm(); u.term != term {
		if err := u.await(t, t.raft.Barrier(t.cfg.ElectionTimeout).Error); err != nil {
			return err
		}
		u.term = term
	}
	s := t.State()
	if !s.Founded() {
		return nil
	}
	u.nodes, u.leaving = s.nodes, s.leavingHolders()
	servers := t.servers()
	changes := voters(s, servers, t.cfg.ID, u.probeServers(t, s, servers))
	for _, c := range changes {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		t.cfg.Logger.Info("changing the Raft servers", "change", c.kind.String(), "node", string(c.server.Address))
		if err := u.reconfigure(t, c); err != nil {
			return err
		}
	}
	return nil
}

// await waits for one of the library's futures, or until this node does not follow the table: the
// goroutine that applies entries answers barriers and changes of servers, and may never do so.
func (u *groupUpkeep) await(t *Table, wait func() error) error {
	ended := make(chan error, 1)
	t.running.Go(func() { ended <- wait() })
	tick := time.NewTicker(t.cfg.HeartbeatTimeout)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-t.ctx.Done():
			return ErrClosed
		case <-tick.C:
			if err := t.Fault(); err != nil {
				return err
			}
		}
	}
}

func (u *groupUpkeep) reconfigure(t *Table, c change) error {
	var wait func() error
	switch c.kind {
	case addLearner:
		wait = t.raft.AddNonvoter(c.server.ID, c.server.Address, 0, changeTimeout).Error
	case promote:
		// Before there is another vote: what this node answers as the only one, it
		// answers before anything can be decided without it.
		t.alone.Store(false)
		wait = t.raft.AddVoter(c.server.ID, c.server.Address, 0, changeTimeout).Error
		// The library counts a new voter's acknowledgements only after it has begun to
		// replicate the configuration entry. A voter that acknowledges that entry before then
		// is not counted for it, and without a further entry the change never commits. The
		// barrier is that entry: the library's main loop appends it after it counts the voter.
		t.raft.Barrier(changeTimeout)
	case demote:
		wait = t.raft.DemoteVoter(c.server.ID, 0, changeTimeout).Error
	case expel:
		wait = t.raft.RemoveServer(c.server.ID, 0, changeTimeout).Error
	case resign:
		wait = t.transferLeadership
	}
	return u.await(t, wait)
}

// probeServers asks the voters, and some who could be, how they are.
func (u *groupUpkeep) probeServers(t *Table, s *State, servers []raft.Server) map[string]reach {
	have := t.raft.CommitIndex()
	var asked []raft.Server
	spare := 0
	for _, i := range rand.Perm(len(servers)) {
		server := servers[i]
		node := string(server.Address)
		if node == t.cfg.ID {
			continue
		}
		if server.Suffrage != raft.Voter {
			if n, _ := s.Node(node); !n.Votes() && !u.leaving[node] || spare == maxAsked {
				continue
			}
			spare++
		}
		asked = append(asked, server)
	}
	applied := t.probeAll(asked)
	found := make(map[string]reach, len(asked))
	for _, server := range asked {
		node := string(server.Address)
		index, answers := applied[server.ID]
		if !answers {
			found[node] = reach{dead: u.hasBeenSilent(node, t.cfg.ReplaceAfter)}
			continue
		}
		delete(u.silent, node)
		found[node] = reach{caughtUp: index+caughtUpWithin >= have}
	}
	return found
}

func (u *groupUpkeep) hasBeenSilent(node string, limit time.Duration) bool {
	since, known := u.silent[node]
	if !known {
		since = time.Now()
		u.silent[node] = since
	}
	return time.Since(since) >= limit
}
