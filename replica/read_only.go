package replica

import (
	"context"
	"errors"
	"github.com/ringside-kv/ringside/replica/lease"
	"slices"
	"sync"
	"time"
)

// A node whose store refuses writes still answers reads, but no client can change its keys. After
// HandOverRefusing it makes backups the primaries of its ranges, without a pause for reads. If that
// fails, the leader grants it no further lease after replaceRefusing and replaces it. Either way
// the node leaves the sets and returns as a learner, which a store that refuses writes cannot
// become. Ranges without a backup that accepts writes stay, and their reads continue.
//
// A store whose log has failed waits for less: nothing but the log's recovery ends that, and the store
// tries it every second. A low disk may have space again at any moment.
//
// A store whose disk has not answered for StalledAfter refuses writes as well, and handing over
// would wait for the disk. So the node asks to be replaced at once, and hands the leadership to a
// node whose disk works, since a leader must write the entry that replaces it. If the disks of all
// copies stall, no node takes over and the node keeps its lease: reads continue, and writes do when
// the disks answer.
const (
	// HandOverRefusing is how long a store refuses writes before its node hands its ranges over. A
	// disk that is short of space may have more in a moment.
	HandOverRefusing = 5 * time.Second
	// HandOverFailed is the same for a store whose log has failed. It leaves time for one recovery.
	HandOverFailed  = 2 * time.Second
	replaceRefusing = HandOverRefusing + lease.Length
	// StalledAfter is how long a write waits for the disk until the disk counts as stalled. Disks in
	// use take seconds now and then.
	StalledAfter = 5 * time.Second
	// checkWrites is the interval at which a node checks whether its store accepts writes.
	checkWrites = 250 * time.Millisecond
)

// readOnly records since when this node's store refuses writes, and which other stores do. Its
// methods may be called from any goroutine.
type readOnly struct {
	e      *Engine
	mu     sync.Mutex
	since  time.Time // zero while the store accepts writes
	failed bool      // the log has failed
	stalls bool      // the disk has not answered for StalledAfter
	others []string  // by the leader's last reply
}

// noteWritable records whether the store accepts writes and whether its log has failed. It returns
// whether the node hands its ranges over.
func (r *readOnly) noteWritable(writable error, failed bool, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = failed
	switch {
	case writable == nil:
		r.since = time.Time{}
		return false
	case r.since.IsZero():
		r.since = now
	}
	refusing := now.Sub(r.since)
	return refusing >= HandOverRefusing || failed && refusing >= HandOverFailed
}

// noteStall records how long the disk has not answered. It returns whether the disk counts as
// stalled, and whether it did before.
func (r *readOnly) noteStall(waits time.Duration) (stalls, before bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before = r.stalls
	r.stalls = waits >= StalledAfter
	return r.stalls, before
}

// refusingFor returns how long the store has refused writes; 0 while it accepts them. A stalled
// store returns replaceRefusing, and one with a failed log does so once handing over has had a second.
func (r *readOnly) refusingFor(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stalls {
		return replaceRefusing
	}
	if r.since.IsZero() {
		return 0
	}
	refusing := max(now.Sub(r.since), time.Millisecond)
	if r.failed && refusing >= HandOverFailed+time.Second {
		return max(refusing, replaceRefusing)
	}
	return refusing
}

// setOthers records which nodes' stores refuse writes.
func (r *readOnly) setOthers(nodes []string) {
	r.mu.Lock()
	r.others = nodes
	r.mu.Unlock()
}

// otherRefuses reports whether another node's store refuses writes.
func (r *readOnly) otherRefuses(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.others, node)
}

// watchWrites hands over this node's ranges once its store has refused writes for too long.
func (r *readOnly) watchWrites(ctx context.Context) {
	tick := time.NewTicker(checkWrites)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			r.watchStall(ctx)
			writable := r.e.cfg.Store.Writable()
			if r.noteWritable(writable, r.e.cfg.Store.LogHasFailed(), now) {
				r.handOverRows(ctx, writable)
			}
		}
	}
}

// watchStall checks whether the disk answers.
func (r *readOnly) watchStall(ctx context.Context) {
	waits := r.e.cfg.Store.Stalled()
	stalls, before := r.noteStall(waits)
	switch {
	case stalls && !before:
		r.e.cfg.Logger.Warn("the disk with this node's data does not answer: backups with working disks become the primaries of its ranges",
			"node", r.e.cfg.Self, "for", waits.Round(time.Millisecond))
		r.e.done.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, lease.Length)
			defer cancel()
			if err := r.e.lease.Cfg.Consensus.TransferLeadershipFromStalledDisk(ctx); err != nil && ctx.Err() == nil {
				r.e.cfg.Logger.Info("transferring the leadership from a node whose disk does not answer failed", "node", r.e.cfg.Self, "err", err)
			}
		})
	case before && !stalls:
		r.e.cfg.Logger.Info("the disk with this node's data answers again", "node", r.e.cfg.Self)
	}
}

// handOverRows makes backups that accept writes the primaries of this node's ranges. The next
// call tries again what fails.
func (r *readOnly) handOverRows(ctx context.Context, writable error) {
	// Without a lease the leader's reply is old, and the failover comes first.
	if r.e.resigning.Load() || !r.e.lease.Valid() {
		return
	}
	rows := r.e.promotableRows(func(node string) bool { return !r.e.cfg.Away(node) && !r.otherRefuses(node) })
	if len(rows) == 0 {
		return
	}
	before := r.e.totals.promoted.Load()
	var faults []error
	for to, rows := range rows {
		if err := r.e.promoteTo(ctx, to, rows); err != nil {
			faults = append(faults, err)
		}
	}
	if promoted := r.e.totals.promoted.Load() - before; promoted > 0 {
		r.e.cfg.Logger.Warn("this node's store refuses writes: backups have become primaries of its ranges; free its disk or restart it",
			"node", r.e.cfg.Self, "ranges", promoted, "err", writable)
	}
	if err := errors.Join(faults...); err != nil && ctx.Err() == nil {
		r.e.cfg.Logger.Info("handing over the ranges of a node that refuses writes failed, trying again", "node", r.e.cfg.Self, "err", err)
	}
}
