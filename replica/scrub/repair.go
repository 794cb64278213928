package scrub

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
)

// A damagedRange is a range that this node cannot read completely.
type damagedRange struct {
	r          ring.Range
	epoch      uint64
	checkedAt  time.Time // last attempt to read it
	verifiedAt time.Time // last time when its primary could read its own copy completely
	blockedBy  string    // why the repair does not proceed
}

// RepairLoop replaces copies that this node's disk has damaged. A node that cannot read its copy
// leaves the set, after it has made a backup the primary if it was the primary itself. Then it
// removes its copy and receives a new one. Before each step another node shows that it can read its
// own copy.
func (s *Scrub) RepairLoop(ctx context.Context) {
	tick := time.NewTicker(damageCheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		s.noteRepairs()
		st := s.cfg.Table.State()
		if n, ok := st.Node(s.cfg.Self); !ok || n.Incarnation != s.cfg.Incarnation ||
			st.Cluster().Paused || s.cfg.Ranges.Resigning() || s.cfg.Ask == nil {
			continue
		}
		s.repairDamaged(ctx, st)
	}
}

// repairDamaged takes every damaged range one step further.
func (s *Scrub) repairDamaged(ctx context.Context, st *table.State) {
	damaged := s.cfg.Store.Damaged()
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
	err := s.cfg.Ranges.Discard(discard)
	if errors.Is(err, ErrRetrySoon) {
		return
	}
	for _, r := range discard {
		s.noteBlocked(r, err)
	}
}

// isUnreadable reports whether this node cannot read a row, or what it has removed of it, completely.
func (s *Scrub) isUnreadable(ctx context.Context, row *table.Row) bool {
	s.mu.Lock()
	m := s.damagedRanges[row.Range]
	fresh := m != nil && m.epoch == row.Epoch && time.Since(m.checkedAt) < damageTTL
	// The store also names ranges that share a damaged file and are intact.
	fine := time.Since(s.readable[row.Range]) < damageTTL
	s.mu.Unlock()
	if fresh || fine {
		return fresh
	}
	err := s.cfg.Store.CheckTables(ctx, row.Range, s.readPace(ctx))
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
		s.cfg.Logger.Error("the disk has damaged the data of a range", "range", row.Range, "epoch", row.Epoch, "err", err)
	}
	m.epoch, m.checkedAt = row.Epoch, time.Now()
	return true
}

// noteBlocked records why a range stays damaged for now.
func (s *Scrub) noteBlocked(r ring.Range, err error) {
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
		s.cfg.Logger.Warn("repairing a damaged range failed, trying again", "range", r, "epoch", m.epoch, "err", err)
	}
	m.blockedBy = why
}

// Reasons why a range stays damaged.
var (
	errNoCopy      = errors.New("no other node has a copy of it")
	errPrimaryAway = errors.New("its primary is away")
	errAllLost     = errors.New("no node of its set is there")
	// ErrRetrySoon says that a discard that has failed is not tried again yet.
	ErrRetrySoon = errors.New("it is tried again soon")
)

// repairNext carries out the next step for a damaged row. It returns true if the row can be
// discarded: this node is not in its set any more, and the primary has read its own copy
// completely.
func (s *Scrub) repairNext(ctx context.Context, st *table.State, row *table.Row) (discard bool, err error) {
	switch {
	case row.Primary == s.cfg.Self:
		return false, s.handOverDamaged(ctx, st, row)
	case s.cfg.Away(row.Primary) && s.cfg.Ranges.AllCopiesAway(st, row):
		return false, errAllLost // RING RECREATE FROM this node may need it
	case s.cfg.Away(row.Primary):
		return false, errPrimaryAway
	}
	primary, ok := st.Node(row.Primary)
	if !ok {
		return false, errPrimaryAway
	}
	within, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if slices.Contains(row.Backups, s.cfg.Self) {
		_, err := s.ask(within, row.Primary, &Request{Kind: kindRelease, To: primary.Incarnation, Row: row.Ref()})
		if err == nil {
			s.countYielded()
		}
		return false, err
	}
	if s.isVerified(row) {
		return true, nil
	}
	_, err = s.ask(within, row.Primary, &Request{Kind: kindRead, To: primary.Incarnation, Range: row.Range})
	if err != nil && s.cfg.Rules.Enforced(rules.Verified) {
		return false, err
	}
	s.mu.Lock()
	s.damagedRanges[row.Range].verifiedAt = time.Now()
	s.mu.Unlock()
	return true, nil
}

func (s *Scrub) isVerified(row *table.Row) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.damagedRanges[row.Range]
	return m.epoch == row.Epoch && time.Since(m.verifiedAt) < damageTTL
}

func (s *Scrub) countYielded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Yielded++
}

// handOverDamaged makes a backup that can read its copy completely the primary of a row.
func (s *Scrub) handOverDamaged(ctx context.Context, st *table.State, row *table.Row) error {
	if len(row.Backups) == 0 {
		return errNoCopy
	}
	if !s.ownRow(row) {
		return feed.ErrChanged
	}
	var faults []error
	for _, node := range row.Backups {
		n, ok := st.Node(node)
		if !ok || !n.Counts() || s.cfg.Away(node) {
			faults = append(faults, fmt.Errorf("%s: it is not there", node))
			continue
		}
		within, cancel := context.WithTimeout(ctx, readTimeout)
		_, err := s.ask(within, node, &Request{Kind: kindRead, To: n.Incarnation, Range: row.Range})
		cancel()
		if err != nil && s.cfg.Rules.Enforced(rules.Verified) {
			faults = append(faults, err)
			continue
		}
		now, ok := s.cfg.Table.State().Row(row.Range.Start)
		if !ok || now.Range != row.Range || now.Epoch != row.Epoch || !slices.Contains(now.Backups, node) {
			return feed.ErrChanged
		}
		if err := s.cfg.Ranges.PromoteTo(ctx, node, []*table.Row{now}); err != nil {
			return err
		}
		s.countYielded()
		s.cfg.Logger.Warn("a range that this node's disk has damaged was given to another primary", "node", node, "range", row.Range, "epoch", row.Epoch+1)
		return nil
	}
	return errors.Join(faults...)
}
