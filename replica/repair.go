package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

const (
	// damageCheckInterval is the interval at which the store is asked for damaged ranges, which is
	// cheap while there are none.
	damageCheckInterval = 200 * time.Millisecond
	// damageTTL is how long the result of reading a range, here or on another node, stays valid.
	damageTTL = time.Minute
	// readTimeout bounds the reading of a range by another node.
	readTimeout = 10 * time.Minute
	// discardAgain is the pause before a failed discard is tried again.
	discardAgain = 5 * time.Second
)

// A damagedRange is a range that this node cannot read completely.
type damagedRange struct {
	r          ring.Range
	epoch      uint64
	checkedAt  time.Time // last attempt to read it
	verifiedAt time.Time // last time when its primary could read its own copy completely
	blockedBy  string    // why the repair does not proceed
}

// repairLoop replaces copies that this node's disk has damaged. A node that cannot read its copy
// leaves the set, after it has made a backup the primary if it was the primary itself. Then it
// removes its copy and receives a new one. Before each step another node shows that it can read its
// own copy.
func (s *scrub) repairLoop(ctx context.Context) {
	tick := time.NewTicker(damageCheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		s.noteRepairs()
		st := s.e.cfg.Table.State()
		if n, ok := st.Node(s.e.cfg.Self); !ok || n.Incarnation != s.e.cfg.Incarnation ||
			st.Cluster().Paused || s.e.resigning.Load() || s.e.lease.Cfg.Ask == nil {
			continue
		}
		s.repairDamaged(ctx, st)
	}
}

// repairDamaged takes every damaged range one step further.
func (s *scrub) repairDamaged(ctx context.Context, st *table.State) {
	damaged := s.e.cfg.Store.Damaged()
	known := make(map[ring.Range]bool)
	var discard []ring.Range
	for row := range st.Rows() {
		if !slices.ContainsFunc(damaged, func(r ring.Range) bool { return spans.Overlap(r, row.Range) }) || !s.isUnreadable(ctx, row) {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		known[row.Range] = true
		gone, err := s.repairNext(ctx, st, row)
		if gone {
			discard = append(discard, row.Range)
			continue
		}
		s.noteBlocked(row.Range, err)
	}
	s.mu.Lock()
	for r := range s.damagedRanges {
		if !known[r] {
			delete(s.damagedRanges, r)
		}
	}
	for r, at := range s.readable {
		if time.Since(at) > damageTTL {
			delete(s.readable, r)
		}
	}
	s.mu.Unlock()
	err := s.e.sweeper.discard(discard)
	if errors.Is(err, errRetrySoon) {
		return
	}
	for _, r := range discard {
		s.noteBlocked(r, err)
	}
}

// isUnreadable reports whether this node cannot read a row completely.
func (s *scrub) isUnreadable(ctx context.Context, row *table.Row) bool {
	s.mu.Lock()
	m := s.damagedRanges[row.Range]
	fresh := m != nil && m.epoch == row.Epoch && time.Since(m.checkedAt) < damageTTL
	// The store also names ranges that share a damaged file and are intact.
	fine := time.Since(s.readable[row.Range]) < damageTTL
	s.mu.Unlock()
	if fresh || fine {
		return fresh
	}
	err := s.e.cfg.Store.Check(ctx, row.Range, s.readPace(ctx))
	if !errors.Is(err, ErrDamaged) {
		if err == nil {
			s.mu.Lock()
			s.readable[row.Range] = time.Now()
			s.mu.Unlock()
		}
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m == nil {
		m = &damagedRange{r: row.Range}
		s.damagedRanges[row.Range] = m
		s.e.cfg.Logger.Error("the disk has damaged the data of a range", "range", row.Range, "epoch", row.Epoch, "err", err)
	}
	m.epoch, m.checkedAt = row.Epoch, time.Now()
	return true
}

// noteBlocked records why a range stays damaged for now.
func (s *scrub) noteBlocked(r ring.Range, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.damagedRanges[r]
	if m == nil {
		return
	}
	why := ""
	if err != nil {
		why = strings.ReplaceAll(err.Error(), "\n", "; ") // joined errors, on one line
	}
	if why != "" && m.blockedBy == "" {
		s.e.cfg.Logger.Warn("repairing a damaged range failed, trying again", "range", r, "epoch", m.epoch, "err", err)
	}
	m.blockedBy = why
}

// Reasons why a range stays damaged.
var (
	errNoCopy      = errors.New("no other node has a copy of it")
	errPrimaryAway = errors.New("its primary is away")
	errAllLost     = errors.New("no node of its set is there")
	errMayBeNeeded = errors.New("other nodes may need the readable part, or it is being copied")
	errRetrySoon   = errors.New("it is tried again soon")
)

// repairNext carries out the next step for a damaged row. It returns true if the row can be
// discarded: this node is not in its set any more, and the primary has read its own copy
// completely.
func (s *scrub) repairNext(ctx context.Context, st *table.State, row *table.Row) (discard bool, err error) {
	switch {
	case row.Primary == s.e.cfg.Self:
		return false, s.handOverDamaged(ctx, st, row)
	case s.e.cfg.Away(row.Primary) && s.e.sweeper.allCopiesAway(st, row):
		return false, errAllLost // RING RECREATE FROM this node may need it
	case s.e.cfg.Away(row.Primary):
		return false, errPrimaryAway
	}
	primary, ok := st.Node(row.Primary)
	if !ok {
		return false, errPrimaryAway
	}
	within, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if slices.Contains(row.Backups, s.e.cfg.Self) {
		_, err := s.askScrub(within, row.Primary, &scrubRequest{Kind: scrubRelease, To: primary.Incarnation, Row: row.Ref()})
		if err == nil {
			s.countYielded()
		}
		return false, err
	}
	if s.isVerified(row) {
		return true, nil
	}
	_, err = s.askScrub(within, row.Primary, &scrubRequest{Kind: scrubRead, To: primary.Incarnation, Range: row.Range})
	if err != nil && s.e.cfg.rules.Enforced(rules.Verified) {
		return false, err
	}
	s.mu.Lock()
	s.damagedRanges[row.Range].verifiedAt = time.Now()
	s.mu.Unlock()
	return true, nil
}

func (s *scrub) isVerified(row *table.Row) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.damagedRanges[row.Range]
	return m.epoch == row.Epoch && time.Since(m.verifiedAt) < damageTTL
}

func (s *scrub) countYielded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Yielded++
}

// handOverDamaged makes a backup that can read its copy completely the primary of a row.
func (s *scrub) handOverDamaged(ctx context.Context, st *table.State, row *table.Row) error {
	if len(row.Backups) == 0 {
		return errNoCopy
	}
	if !s.ownRow(row) {
		return feed.ErrChanged
	}
	var faults []error
	for _, node := range row.Backups {
		n, ok := st.Node(node)
		if !ok || !n.Counts() || s.e.cfg.Away(node) {
			faults = append(faults, fmt.Errorf("%s: it is not there", node))
			continue
		}
		within, cancel := context.WithTimeout(ctx, readTimeout)
		_, err := s.askScrub(within, node, &scrubRequest{Kind: scrubRead, To: n.Incarnation, Range: row.Range})
		cancel()
		if err != nil && s.e.cfg.rules.Enforced(rules.Verified) {
			faults = append(faults, err)
			continue
		}
		now, ok := s.e.cfg.Table.State().Row(row.Range.Start)
		if !ok || now.Range != row.Range || now.Epoch != row.Epoch || !slices.Contains(now.Backups, node) {
			return feed.ErrChanged
		}
		if err := s.e.promoteTo(ctx, node, []*table.Row{now}); err != nil {
			return err
		}
		s.countYielded()
		s.e.cfg.Logger.Warn("a range that this node's disk has damaged was given to another primary", "node", node, "range", row.Range, "epoch", row.Epoch+1)
		return nil
	}
	return errors.Join(faults...)
}

// discard removes all data in ranges in whose sets this node is not. No copy to this node begins
// meanwhile, and changes of earlier primaries are no longer accepted.
func (f *sweeper) discard(ranges []ring.Range) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := f.e.cfg.Table.State()
	ranges = slices.Clone(ranges)
	for _, r := range f.undiscarded {
		if !slices.Contains(ranges, r) {
			ranges = append(ranges, r)
		}
	}
	if len(ranges) == 0 {
		return nil
	}
	ranges = slices.DeleteFunc(ranges, func(r ring.Range) bool { return !f.canDiscard(st, r) })
	if len(ranges) == 0 {
		return errMayBeNeeded
	}
	if time.Since(f.discardTried) < discardAgain && !slices.ContainsFunc(ranges, func(r ring.Range) bool { return !slices.Contains(f.undiscarded, r) }) {
		return errRetrySoon
	}
	f.e.feed.Update()
	f.e.feed.LeaveRanges(ranges)
	err := f.e.cfg.Store.Discard(ranges...)
	if err != nil {
		// No data may arrive there before the discard has succeeded. Ranges beside it may have to
		// be discarded, too.
		f.undiscarded, f.discardTried = ranges, time.Now()
		return err
	}
	f.undiscarded = nil
	f.e.scrub.mu.Lock()
	f.e.scrub.stats.Discarded += int64(len(ranges))
	for _, r := range ranges {
		delete(f.e.scrub.damagedRanges, r)
	}
	f.e.scrub.mu.Unlock()
	f.e.cfg.Logger.Warn("deleted damaged ranges", "ranges", ranges)
	return nil
}

// canDiscard reports whether no node needs this node's data in a range. sweeper.mu is held.
func (f *sweeper) canDiscard(st *table.State, r ring.Range) bool {
	for row := range spans.Rows(st, r) {
		if row.Holds(f.e.cfg.Self) || f.allCopiesAway(st, row) {
			return false
		}
		if f.e.cfg.Lineages == nil {
			continue
		}
		// Data of another lineage is saved first, as far as it can be read.
		if _, err := f.e.cfg.Lineages.SetAside(row.Range, row.Lineage); err != nil {
			f.e.cfg.Logger.Warn("saving an old copy of a range failed: its data is damaged", "range", row.Range, "err", err)
			return false
		}
	}
	return !f.e.isCopying(r) && !f.e.received.isReceiving(r)
}
