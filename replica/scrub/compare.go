package scrub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

const (
	// maxEntries bounds the entries compared in one step; stepBytes is the approximate amount
	// that each side reads for it.
	maxEntries = 4096
	stepBytes  = 4 << 20
	// maxParts and partBytes bound the key spans that are rechecked together, and the size of
	// their bounds.
	maxParts  = 64
	partBytes = 1 << 20
	// maxTries is how often a key span is rechecked while clients write in it.
	maxTries = 6
	// askTimeout bounds one answer of a backup.
	askTimeout = 30 * time.Second
	// repairPatience is how long the next comparison waits for a backup that is being copied again,
	// so that ranges lose backups one after the other.
	repairPatience = time.Minute
)

// A comparison compares a part of a row with one backup.
type comparison struct {
	s           *Scrub
	row         *table.Row
	at          ring.Range // the part
	node        string
	incarnation uint64  // of the backup
	doneBefore  float64 // fraction of the part's comparisons that are done
	share       float64 // fraction of them that this one is
}

// run compares the part step by step. Key spans with different digests are rechecked, since clients
// may have written meanwhile. A backup that differs is released.
func (c *comparison) run(ctx context.Context) error {
	s := c.s
	n, ok := s.cfg.Table.State().Node(c.node)
	if !ok {
		return feed.ErrChanged
	}
	c.incarnation = n.Incarnation
	load := s.cfg.Store.Load(c.at)
	each := max(load.Bytes/max(load.Keys, 1), 1)
	entries := int(min(max(stepBytes/each, 16), maxEntries))
	var from []byte
	for step := int64(0); ; step++ {
		done := min(1, float64(step*int64(entries))/float64(max(load.Keys, 1)))
		if err := s.waitForPermit(ctx, c.doneBefore+c.share*done); err != nil {
			return err
		}
		began := time.Now()
		a, err := c.ask(ctx, &Request{Kind: kindDigest, From: from, Entries: entries})
		if err != nil {
			return err
		}
		parts, next, err := s.cfg.Store.DifferingSpans(c.at, a.Digest)
		if err != nil {
			return err
		}
		differs, err := c.confirm(ctx, parts)
		if err != nil {
			return err
		}
		if differs != nil {
			return c.releaseDiffering(ctx, differs)
		}
		s.cfg.Pacer.Spend(min(load.Bytes, each*int64(entries)))
		s.cfg.Pacer.RestForClients(ctx, time.Since(began))
		if next == nil {
			return nil
		}
		from = next
	}
}

func (c *comparison) ask(ctx context.Context, r *Request) (*Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	r.To, r.Range = c.incarnation, c.at
	return c.s.ask(ctx, c.node, r)
}

// confirm returns the first key span in which the backup really differs; nil if there is none.
func (c *comparison) confirm(ctx context.Context, parts []KeySpan) (*KeySpan, error) {
	for len(parts) > 0 {
		n, size := 0, 0
		for n < len(parts) && n < maxParts && (n == 0 || size < partBytes) {
			size += len(parts[n].From) + len(parts[n].To)
			n++
		}
		differs, err := c.recheck(ctx, parts[:n])
		if differs != nil || err != nil {
			return differs, err
		}
		parts = parts[n:]
	}
	return nil, nil
}

// recheck compares key spans in which nothing is written meanwhile. The backup has acknowledged all
// changes before the first count of changes by the time of the comparison. If the second count is
// equal, both sides have hashed the same changes, so different hashes are a difference.
func (c *comparison) recheck(ctx context.Context, parts []KeySpan) (*KeySpan, error) {
	s := c.s
	for try := range maxTries {
		left, differs, err := c.recheckOnce(ctx, parts)
		if differs != nil || err != nil || len(left) == 0 {
			return differs, err
		}
		parts = left
		locks.Pause(ctx, time.Duration(1<<try)*time.Millisecond)
	}
	s.mu.Lock()
	s.stats.Undecided += int64(len(parts))
	s.mu.Unlock()
	return nil, ctx.Err()
}

// recheckOnce returns the undecided key spans, or one that differs.
func (c *comparison) recheckOnce(ctx context.Context, parts []KeySpan) (left []KeySpan, differs *KeySpan, err error) {
	s, rule := c.s, c.s.cfg.Rules
	w, err := s.cfg.Store.Watch(c.at, parts)
	if err != nil {
		return nil, nil, err
	}
	defer w.Close()
	before := w.Changes()
	if rule.Enforced(rules.Arrived) {
		if err := s.cfg.Feed.WaitReceived(ctx, c.node); err != nil {
			return nil, nil, err
		}
	}
	at := time.Now().Round(0)
	mine, err := s.cfg.Store.Sums(c.at, parts, at)
	if err != nil {
		return nil, nil, err
	}
	a, err := c.ask(ctx, &Request{Kind: kindSums, Parts: parts, At: at.UnixMilli()})
	if err != nil {
		return nil, nil, err
	}
	if len(a.Sums) != len(mine) {
		return nil, nil, fmt.Errorf("%w: %d sums in place of %d", frame.ErrMalformed, len(a.Sums), len(mine))
	}
	after := w.Changes()
	for i := range parts {
		switch {
		case mine[i] == a.Sums[i]:
		case before[i] == after[i] || !rule.Enforced(rules.Unchanged):
			return nil, &parts[i], nil
		default:
			left = append(left, parts[i])
		}
	}
	return left, nil, nil
}

// releaseDiffering releases the backup. The planner has it copied again, at the cost of digests and
// of what differs.
func (c *comparison) releaseDiffering(ctx context.Context, differs *KeySpan) error {
	s := c.s
	if err := s.releaseBackup(ctx, c.row, c.node); err != nil {
		return err
	}
	s.addRepair(repair{c.row.Range, c.node})
	s.cfg.Logger.Error("a backup differs from its primary and will be copied again", "node", c.node, "range", c.row.Range,
		"epoch", c.row.Epoch, "from", fmt.Sprintf("%x", differs.From[:min(len(differs.From), 8)]))
	within, cancel := context.WithTimeout(ctx, repairPatience)
	defer cancel()
	for s.noteRepairs() > 0 && within.Err() == nil {
		locks.Pause(within, pollInterval)
	}
	return ctx.Err()
}

// releaseBackup removes a backup from the set of a row that this node serves. It returns when no
// change of the row is under way to the backup.
func (s *Scrub) releaseBackup(ctx context.Context, was *table.Row, node string) error {
	row, ok := s.cfg.Table.State().Row(was.Range.Start)
	if !ok || row.Range != was.Range || row.Epoch != was.Epoch || row.Lineage != was.Lineage ||
		row.Primary != s.cfg.Self || !slices.Contains(row.Backups, node) {
		return feed.ErrChanged
	}
	if err := s.cfg.Table.Apply(ctx, &table.Release{Node: node, Rows: []table.Ref{row.Ref()}}); err != nil {
		return err
	}
	s.cfg.Ranges.PublishRoutes()
	err := s.cfg.Feed.WaitReceived(ctx, node)
	if errors.Is(err, feed.ErrNotFed) {
		return nil
	}
	return err
}
