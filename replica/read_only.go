package replica

import (
	"context"
	"errors"
	"github.com/ringside-kv/ringside/replica/lease"
	"slices"
	"sync"
	"time"
)

// A node whose store refuses writes answers reads, and no client can change its keys. So
// once that has lasted for handOverRefusing it makes backups the primaries of its ranges:
// in an orderly way, without a pause for reads. If that does not succeed the leader grants
// it no further lease after replaceRefusing, and replaces it. Either way the node leaves the
// sets and returns as a learner, which a store that refuses writes cannot be. Ranges
// without a backup that takes writes stay: their reads go on.
//
// A store whose disk has not answered for stalledAfter takes no writes either, and an
// orderly way would wait for it. So the node says at once that it is to be replaced, and if
// it leads it lets another node lead whose disk works: as a leader it would have to write
// that it was replaced. Where the disks of all copies stall nobody takes over, and the node
// keeps its lease: reads go on, and so does everything when the disks answer.
const (
	handOverRefusing = 5 * time.Second
	replaceRefusing  = handOverRefusing + lease.Length
	stalledAfter     = 5 * time.Second
	// checkWrites is how often a node looks at whether its store takes writes.
	checkWrites = 250 * time.Millisecond
)

// readOnly is since when this node's store has refused writes, and which other nodes'
// stores do. Its methods may be called from any goroutine.
type readOnly struct {
	mu     sync.Mutex
	since  time.Time // zero while the store takes writes
	stalls bool      // the disk has not answered for stalledAfter
	others []string  // by the word of the leader
}

// noteWritable takes in whether the store takes writes, and returns for how long it has not.
func (r *readOnly) noteWritable(writable error, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case writable == nil:
		r.since = time.Time{}
		return 0
	case r.since.IsZero():
		r.since = now
	}
	return now.Sub(r.since)
}

// noteStall takes in for how long the disk has not answered. It returns whether it counts as
// stalled, and whether it did before.
func (r *readOnly) noteStall(waits time.Duration) (stalls, before bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before = r.stalls
	r.stalls = waits >= stalledAfter
	return r.stalls, before
}

// refusingFor is for how long the store has refused writes; 0 while it takes them. A stalled
// store counts as one that is to be replaced.
func (r *readOnly) refusingFor(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stalls {
		return replaceRefusing
	}
	if r.since.IsZero() {
		return 0
	}
	return max(now.Sub(r.since), time.Millisecond)
}

// setOthers takes in which nodes' stores refuse writes.
func (r *readOnly) setOthers(nodes []string) {
	r.mu.Lock()
	r.others = nodes
	r.mu.Unlock()
}

// otherRefuses tells whether another node's store refuses writes.
func (r *readOnly) otherRefuses(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.others, node)
}

// watchWrites hands this node's ranges over once its store has refused writes for too long.
func (e *Engine) watchWrites(ctx context.Context) {
	tick := time.NewTicker(checkWrites)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			e.watchStall(ctx)
			writable := e.cfg.Store.Writable()
			if e.readOnly.noteWritable(writable, now) >= handOverRefusing {
				e.handOverRefusing(ctx, writable)
			}
		}
	}
}

// watchStall looks at whether the disk answers.
func (e *Engine) watchStall(ctx context.Context) {
	waits := e.cfg.Store.Stalled()
	stalls, before := e.readOnly.noteStall(waits)
	switch {
	case stalls && !before:
		e.cfg.Logger.Warn("the disk with this node's data does not answer: backups with working disks become the primaries of its ranges",
			"node", e.cfg.Self, "for", waits.Round(time.Millisecond))
		e.done.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, lease.Length)
			defer cancel()
			if err := e.lease.Cfg.Consensus.TransferLeadershipFromStalledDisk(ctx); err != nil && ctx.Err() == nil {
				e.cfg.Logger.Info("transferring the leadership from a node whose disk does not answer failed", "node", e.cfg.Self, "err", err)
			}
		})
	case before && !stalls:
		e.cfg.Logger.Info("the disk with this node's data answers again", "node", e.cfg.Self)
	}
}

// handOverRefusing makes backups that take writes the primaries of this node's ranges. What
// fails is tried again by the next call.
func (e *Engine) handOverRefusing(ctx context.Context, writable error) {
	// Without a lease the leader's word on others is old, and the failover comes first.
	if e.resigning.Load() || !e.lease.Valid() {
		return
	}
	rows := e.promotableRows(func(node string) bool { return !e.cfg.Away(node) && !e.readOnly.otherRefuses(node) })
	if len(rows) == 0 {
		return
	}
	before := e.totals.promoted.Load()
	var faults []error
	for to, rows := range rows {
		if err := e.promoteTo(ctx, to, rows); err != nil {
			faults = append(faults, err)
		}
	}
	if promoted := e.totals.promoted.Load() - before; promoted > 0 {
		e.cfg.Logger.Warn("this node's store refuses writes: backups have become primaries of its ranges; free its disk or restart it",
			"node", e.cfg.Self, "ranges", promoted, "err", writable)
	}
	if err := errors.Join(faults...); err != nil && ctx.Err() == nil {
		e.cfg.Logger.Info("handing over the ranges of a node that refuses writes failed, trying again", "node", e.cfg.Self, "err", err)
	}
}
