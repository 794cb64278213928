package replica

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
	// scrubEntries bounds the entries compared in one step; scrubBytes is the approximate amount
	// that each side reads for it.
	scrubEntries = 4096
	scrubBytes   = 4 << 20
	// scrubParts and partBytes bound the key spans that are rechecked together, and the size of
	// their bounds.
	scrubParts = 64
	partBytes  = 1 << 20
	// scrubTries is how often a key span is rechecked while clients write in it.
	scrubTries = 6
	// scrubTimeout bounds one answer of a backup.
	scrubTimeout = 30 * time.Second
	// repairPatience is how long the next comparison waits for a backup that is being copied again,
	// so that ranges lose backups one after the other.
	repairPatience = time.Minute
)

// A comparison compares a part of a row with one backup.
type comparison struct {
	e           *Engine
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
	e := c.e
	n, ok := e.cfg.Table.State().Node(c.node)
	if !ok {
		return feed.ErrChanged
	}
	c.incarnation = n.Incarnation
	load := e.cfg.Store.Load(c.at)
	each := max(load.Bytes/max(load.Keys, 1), 1)
	entries := int(min(max(scrubBytes/each, 16), scrubEntries))
	var from []byte
	for step := int64(0); ; step++ {
		done := min(1, float64(step*int64(entries))/float64(max(load.Keys, 1)))
		if err := e.scrub.waitForScrubPermit(ctx, c.doneBefore+c.share*done); err != nil {
			return err
		}
		began := time.Now()
		a, err := c.ask(ctx, &scrubRequest{Kind: scrubDigest, From: from, Entries: entries})
		if err != nil {
			return err
		}
		parts, next, err := e.cfg.Store.DifferingSpans(c.at, a.Digest)
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
		e.limiter.spend(min(load.Bytes, each*int64(entries)))
		e.restForClients(ctx, time.Since(began))
		if next == nil {
			return nil
		}
		from = next
	}
}

func (c *comparison) ask(ctx context.Context, r *scrubRequest) (*scrubReply, error) {
	ctx, cancel := context.WithTimeout(ctx, scrubTimeout)
	defer cancel()
	r.To, r.Range = c.incarnation, c.at
	return c.e.scrub.askScrub(ctx, c.node, r)
}

// confirm returns the first key span in which the backup really differs; nil if there is none.
func (c *comparison) confirm(ctx context.Context, parts []KeySpan) (*KeySpan, error) {
	for len(parts) > 0 {
		n, size := 0, 0
		for n < len(parts) && n < scrubParts && (n == 0 || size < partBytes) {
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
	e := c.e
	for try := range scrubTries {
		left, differs, err := c.recheckOnce(ctx, parts)
		if differs != nil || err != nil || len(left) == 0 {
			return differs, err
		}
		parts = left
		locks.Pause(ctx, time.Duration(1<<try)*time.Millisecond)
	}
	e.scrub.mu.Lock()
	e.scrub.stats.Undecided += int64(len(parts))
	e.scrub.mu.Unlock()
	return nil, ctx.Err()
}

// recheckOnce returns the undecided key spans, or one that differs.
func (c *comparison) recheckOnce(ctx context.Context, parts []KeySpan) (left []KeySpan, differs *KeySpan, err error) {
	e, Set := c.e, c.e.cfg.rules
	w, err := e.cfg.Store.Watch(c.at, parts)
	if err != nil {
		return nil, nil, err
	}
	defer w.Close()
	before := w.Changes()
	if Set.Enforced(rules.Arrived) {
		if err := e.feed.WaitReceived(ctx, c.node); err != nil {
			return nil, nil, err
		}
	}
	at := time.Now().Round(0)
	mine, err := e.cfg.Store.Sums(c.at, parts, at)
	if err != nil {
		return nil, nil, err
	}
	a, err := c.ask(ctx, &scrubRequest{Kind: scrubSums, Parts: parts, At: at.UnixMilli()})
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
		case before[i] == after[i] || !Set.Enforced(rules.Unchanged):
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
	e := c.e
	if err := e.scrub.releaseBackup(ctx, c.row, c.node); err != nil {
		return err
	}
	e.scrub.addRepair(repair{c.row.Range, c.node})
	e.cfg.Logger.Error("a backup differs from its primary and will be copied again", "node", c.node, "range", c.row.Range,
		"epoch", c.row.Epoch, "from", fmt.Sprintf("%x", differs.From[:min(len(differs.From), 8)]))
	within, cancel := context.WithTimeout(ctx, repairPatience)
	defer cancel()
	for e.scrub.noteRepairs() > 0 && within.Err() == nil {
		locks.Pause(within, pollInterval)
	}
	return ctx.Err()
}

// releaseBackup removes a backup from the set of a row that this node serves. It returns when no
// change of the row is under way to the backup.
func (s *scrub) releaseBackup(ctx context.Context, was *table.Row, node string) error {
	row, ok := s.e.cfg.Table.State().Row(was.Range.Start)
	if !ok || row.Range != was.Range || row.Epoch != was.Epoch || row.Lineage != was.Lineage ||
		row.Primary != s.e.cfg.Self || !slices.Contains(row.Backups, node) {
		return feed.ErrChanged
	}
	if err := s.e.cfg.Table.Apply(ctx, &table.Release{Node: node, Rows: []table.Ref{row.Ref()}}); err != nil {
		return err
	}
	s.e.publishRoutes()
	err := s.e.feed.WaitReceived(ctx, node)
	if errors.Is(err, feed.ErrNotFed) {
		return nil
	}
	return err
}
