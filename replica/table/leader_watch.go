package table

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/raft"
)

// The Raft library's followers check the time of the last contact only when a timer of up to twice
// the heartbeat time-out fires, and they need two of its rounds if the leader died in the middle of
// one: up to three time-outs, in which leases expire. Until a follower has checked, it votes for no
// candidate. So the table checks itself, and makes the library check when the leader is silent.

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

// electionSlot returns this server's rank among the voters beside the leader, in an order that is
// the same everywhere, and the length of each voter's time slot.
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

// waitForSlot makes candidates of the same moment ask for votes one after the other. If they asked
// at once, none might get a majority, and the next election comes only after leases have expired.
// It is called for each server that is asked.
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

// checkElection makes a follower check at once whether it should start an election: the library
// does so when its time-out is shortened, by however little.
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

// electIfAlone makes the only voter start an election at once, since there is no other to wait for.
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
