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

// keepVigil runs on every node.
func (t *Table) keepVigil() {
	t.running.Go(func() {
		timer := time.NewTimer(t.cfg.HeartbeatTimeout)
		defer timer.Stop()
		for {
			select {
			case <-t.ctx.Done():
				return
			case <-timer.C:
			}
			// By chance, so that not all stand for election at once.
			patience := t.cfg.HeartbeatTimeout + rand.N(t.cfg.HeartbeatTimeout/2)
			last := t.raft.LastContact()
			if t.raft.State() != raft.Follower || last.IsZero() {
				timer.Reset(patience)
				continue
			}
			if silent := time.Since(last); silent < t.cfg.HeartbeatTimeout {
				timer.Reset(patience - silent)
				continue
			}
			if err := t.look(); err != nil {
				t.cfg.Logger.Warn("a silent leader was not noticed at once", "node", t.cfg.ID, "err", err)
			}
			timer.Reset(patience)
		}
	})
}

// look makes a follower look at once whether it should stand for election: the
// library does so when its time-out is shortened, by however little.
func (t *Table) look() error {
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

// hurry lets a server that alone has a vote stand for election at once: there is
// nobody to wait for.
func (t *Table) hurry() error {
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
	return t.look()
}
