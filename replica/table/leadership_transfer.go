package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// transferAgainAfter is how long a voter is not asked again to take the leadership. It is longer
// than the library's replication to one server can block: its longest pause is 10 s, and
// appendUntilAnswered blocks it for little more than 30 s.
const transferAgainAfter = time.Minute

// transferTargets are the voters that this node has asked to lead in its place.
//
// The library leaves word for the replication to a follower in a place for one, and waits
// for as long as that is taken, also when the replication ends meanwhile: the transfer of
// the leadership then never ends, and this node refuses every entry whenever it leads,
// until its process ends (hashicorp/raft, issue 696). Word of an earlier transfer is gone
// once the replication has looked, so no server is asked twice before it surely has. A
// replication that has ended is of a server that the library does not ask, or of an
// earlier leadership.
type transferTargets struct {
	mu    sync.Mutex
	asked map[raft.ServerID]time.Time
}

// mayAsk reports whether a server may be asked now, and records that it is.
func (s *transferTargets) mayAsk(id raft.ServerID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, was := s.asked[id]; was && time.Since(at) < transferAgainAfter {
		return false
	}
	if s.asked == nil {
		s.asked = make(map[raft.ServerID]time.Time)
	}
	s.asked[id] = time.Now()
	return true
}

// TransferLeadership hands the leadership to another voter, if this node has it and there is one,
// so that the group has a leader when this node stops. It returns once that is done or has failed.
func (t *Table) TransferLeadership(ctx context.Context) error {
	if _, isSelf := t.Leader(); !isSelf || len(t.Voters()) < 2 {
		return nil
	}
	return t.ask(ctx, "cede the leadership", t.transferLeadership)
}

// transferLeadership asks the other voters to lead until one does, in the order of what they have
// applied. Voters that do not answer a probe are left out.
func (t *Table) transferLeadership() error {
	var others []raft.Server
	for _, s := range t.servers() {
		if s.Suffrage == raft.Voter && string(s.Address) != t.cfg.ID {
			others = append(others, s)
		}
	}
	applied := t.probeAll(others)
	slices.SortStableFunc(others, func(a, b raft.Server) int { return cmp.Compare(applied[b.ID], applied[a.ID]) })
	failed := []error{errors.New("no other voter can lead")}
	for _, s := range others {
		if _, answers := applied[s.ID]; !answers {
			continue
		}
		err := t.transferTo(s)
		if err == nil {
			return nil
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// transferTo hands the leadership to a voter.
func (t *Table) transferTo(s raft.Server) error {
	if !t.transferTargets.mayAsk(s.ID) {
		return fmt.Errorf("%s was asked to lead less than %v ago", s.Address, transferAgainAfter)
	}
	if err := t.raft.LeadershipTransferToServer(s.ID, s.Address).Error(); err != nil {
		return fmt.Errorf("%s: %w", s.Address, err)
	}
	return nil
}

// probeAll asks servers how far they have applied the table, and returns the replies of those that
// answer soon.
func (t *Table) probeAll(servers []raft.Server) map[raft.ServerID]uint64 {
	ctx, cancel := context.WithTimeout(t.ctx, t.cfg.HeartbeatTimeout)
	defer cancel()
	var mu sync.Mutex
	var asking sync.WaitGroup
	applied := make(map[raft.ServerID]uint64, len(servers))
	for _, s := range servers {
		asking.Go(func() {
			id, index, err := t.probe(ctx, string(s.Address))
			if err == nil && id == string(s.ID) {
				mu.Lock()
				defer mu.Unlock()
				applied[s.ID] = index
			}
		})
	}
	asking.Wait()
	return applied
}
