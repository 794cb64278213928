package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// The library's VerifyLeader may count an answer to a heartbeat that was on its way when
// it was called: an answer from before whatever the caller wants to be sure of, which a
// leader that was stopped for a while finds when it goes on. So the table notes when the
// requests left to which the other servers have agreed, and has the library ask again
// until those of a majority have left since the call.

// contacts are the last requests to which other servers have agreed.
type contacts struct {
	mu     sync.Mutex
	asked  uint64 // numbers the requests, and the calls that wait for some
	agreed map[raft.ServerID]contact
}

// A contact is one such request: its number and its term.
type contact struct{ asked, term uint64 }

func (c *contacts) number() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return c.asked
}

func (c *contacts) note(id raft.ServerID, asked, term uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.agreed == nil {
		c.agreed = make(map[raft.ServerID]contact)
	}
	if c.agreed[id].asked < asked {
		c.agreed[id] = contact{asked, term}
	}
}

// since counts the servers that have agreed in a term to what left after a number.
func (c *contacts) since(number, term uint64, servers []raft.Server, self raft.ServerID) (agreed, voters int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range servers {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		if last := c.agreed[s.ID]; s.ID == self || last.asked > number && last.term == term {
			agreed++
		}
	}
	return agreed, voters
}

// Term is the newest of the group that this node knows.
func (t *Table) Term() uint64 { return t.raft.CurrentTerm() }

// Confirm returns the term in which this node leads, once a majority of the voters has
// confirmed that, each in answer to something that was sent after the call.
func (t *Table) Confirm(ctx context.Context) (term uint64, err error) {
	ctx, leave, err := t.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	number := t.contacts.number()
	term = t.raft.CurrentTerm()
	for {
		if t.silent.Load() {
			return 0, fmt.Errorf("table: confirm the leader: %w", errStalled)
		}
		if err := t.verify(ctx); err != nil {
			return 0, fmt.Errorf("table: confirm the leader: %w", err)
		}
		if t.raft.CurrentTerm() != term || t.raft.State() != raft.Leader {
			return 0, fmt.Errorf("table: confirm the leader: %w", raft.ErrLeadershipLost)
		}
		if agreed, voters := t.contacts.since(number, term, t.servers(), raft.ServerID(t.disk.server)); agreed > voters/2 {
			return term, nil
		}
		select {
		case <-time.After(time.Millisecond): // those that were on their way come first
		case <-ctx.Done():
			return 0, fmt.Errorf("table: confirm the leader: %w", context.Cause(ctx))
		}
	}
}

// verify asks the library whether this node leads, which also has heartbeats sent at once.
// While the library's main loop writes to a disk that takes its time, it does not answer.
// Heartbeats go on then, and the answers to them are all that Confirm goes by: so a slow
// disk of the leader ends no leases.
func (t *Table) verify(ctx context.Context) error {
	if t.writes.pending() > 0 {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, t.cfg.LeaderLease)
	defer cancel()
	err := t.await(within, func() error { return t.raft.VerifyLeader().Error() })
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// ApplyIn is Apply for a command that holds only in one term of this node's office: what
// another leader may have granted since, its proposer cannot know. It fails with ErrTerm
// when the command was not applied since it would have been in another term. It does not
// try again.
func (t *Table) ApplyIn(ctx context.Context, term uint64, command Command) (Result, error) {
	ctx, leave, err := t.enter(ctx)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	if t.raft.CurrentTerm() != term || t.raft.State() != raft.Leader {
		return Result{}, refuse(ErrTerm, "%d", term)
	}
	log := raft.Log{Data: Encode(command), Extensions: binary.BigEndian.AppendUint64(nil, term)}
	done, err := t.hand(ctx, log)
	if errors.Is(err, errNotProposed) {
		return Result{}, refuse(ErrTerm, "%d: %v", term, err)
	}
	if err == nil {
		_ = t.Wait(ctx, done.index)
	}
	return Result{done.index}, err
}

// outdated reports whether an entry was to be applied only in another term than the one in
// which it was proposed in the end.
func outdated(l *raft.Log) bool {
	return len(l.Extensions) == 8 && binary.BigEndian.Uint64(l.Extensions) != l.Term
}

// Alone reports whether this node leads and alone has a vote: nothing is decided without
// it. It stays true until just before that changes. begun counts how often it has become true, and
// grows before it does.
func (t *Table) Alone() (begun uint64, is bool) { return t.aloneBegun.Load(), t.alone.Load() }

// updateAlone is called by one goroutine, the one that also changes the voters.
func (t *Table) updateAlone() {
	voters, own := 0, false
	for _, s := range t.servers() {
		if s.Suffrage == raft.Voter {
			voters++
			own = own || s.ID == raft.ServerID(t.disk.server)
		}
	}
	now := voters == 1 && own && t.raft.State() == raft.Leader
	if now == t.alone.Load() {
		return
	}
	if now {
		t.aloneBegun.Add(1)
	}
	t.alone.Store(now)
	t.listeners.notify()
}
