package table

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/raft"
)

// The library's followers look at the time of the last contact only when a timer of
// their own of up to twice the heartbeat time-out ends, and it takes two of its
// rounds if the leader died in the middle of one: that is up to three time-outs, in
// which leases end. Until a follower has looked, it votes for nobody. So the table
// looks itself, and has the library look when there is something to see.

// watchLeader runs on every node.
func (t *Table) watchLeader() {
	t.running.Go(func() {
		timer := time.NewTimer(t.cfg.HeartbeatTimeout)
		defer timer.Stop()
		for {
			select {
			case <-t.ctx.Done():
				return
			case <-timer.C:
			}
			rank, slot := t.electionSlot()
			patience := t.cfg.HeartbeatTimeout + time.Duration(rank)*slot + rand.N(slot/4+1)
			last := t.raft.LastContact()
			if t.raft.State() != raft.Follower || last.IsZero() {
				timer.Reset(patience)
				continue
			}
			if silent := time.Since(last); silent < t.cfg.HeartbeatTimeout {
				timer.Reset(patience - silent)
				continue
			}
			if err := t.checkElection(); err != nil {
				t.cfg.Logger.Warn("checking a silent leader failed", "node", t.cfg.ID, "err", err)
			}
			timer.Reset(patience)
		}
	})
}

// electionSlot is which of the voters beside the leader this server is, in an order on which
// they agree, and how much time each has for itself.
func (t *Table) electionSlot() (rank int, slot time.Duration) {
	_, leader := t.raft.LeaderWithID()
	others := 1
	for _, s := range t.servers() {
		if s.Suffrage != raft.Voter || s.ID == leader || s.ID == raft.ServerID(t.disk.server) {
			continue
		}
		others++
		if s.ID < raft.ServerID(t.disk.server) {
			rank++
		}
	}
	return rank, t.cfg.HeartbeatTimeout / 2 / time.Duration(others)
}

// waitForSlot lets servers that stand for election at the same moment ask for votes one after
// the other. If they asked at once none might get a majority, and the next time comes
// only after leases are over. It is called for each server that is asked.
func (t *Table) waitForSlot() {
	if !t.opened.Load() {
		return
	}
	rank, slot := t.electionSlot()
	select {
	case <-time.After(time.Duration(rank) * slot / 2):
	case <-t.ctx.Done():
	}
}

// checkElection makes a follower look at once whether it should stand for election: the
// library does so when its time-out is shortened, by however little.
func (t *Table) checkElection() error {
	t.timing.Lock()
	defer t.timing.Unlock()
	short := t.raft.ReloadableConfig()
	long := short
	long.HeartbeatTimeout++
	long.ElectionTimeout = max(long.ElectionTimeout, long.HeartbeatTimeout)
	if err := errors.Join(t.raft.ReloadConfig(long), t.raft.ReloadConfig(short)); err != nil {
		return fmt.Errorf("table: hurry an election: %w", err)
	}
	return nil
}

// electIfAlone lets a server that alone has a vote stand for election at once: there is
// nobody to wait for.
func (t *Table) electIfAlone() error {
	alone := false
	for _, s := range t.servers() {
		if s.Suffrage == raft.Voter {
			if alone || s.ID != raft.ServerID(t.disk.server) {
				return nil
			}
			alone = true
		}
	}
	if !alone {
		return nil
	}
	return t.checkElection()
}
