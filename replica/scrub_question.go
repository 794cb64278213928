package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// What the check of copies asks other nodes.
const (
	scrubDigest  = "digest" // of what the node has, from a place on
	scrubSums    = "sums"   // of parts
	scrubRead    = "read"   // can the node read all that it has?
	scrubRelease = "yield"  // of a primary: release the one who asks, whose copy is damaged
	scrubBegin   = "begin"  // begin a round
)

type scrubRequest struct {
	Kind string
	// To is the start of the node that is asked.
	To    uint64
	Range ring.Range
	// From and Entries are of a digest, Parts and At, ms since 1970, of sums.
	From    []byte
	Entries int
	Parts   []KeySpan
	At      int64
	// Row is the one that is to be yielded.
	Row table.Ref
}

type scrubReply struct {
	// Refusal says why the rest is missing; Damaged that the node cannot read it.
	Refusal string
	Damaged bool
	Digest  []byte
	Sums    []uint64
}

// errScrubRefused says that another node does not take part.
var errScrubRefused = errors.New("it cannot tell")

func (e *Engine) askScrub(ctx context.Context, node string, r *scrubRequest) (*scrubReply, error) {
	a := new(scrubReply)
	if err := e.ask(ctx, node, questionScrub, r, a); err != nil {
		return nil, err
	}
	switch {
	case a.Damaged:
		return nil, fmt.Errorf("%s: %w: %.300s", node, ErrDamaged, a.Refusal)
	case a.Refusal != "":
		return nil, fmt.Errorf("%s: %w: %.300s", node, errScrubRefused, a.Refusal)
	}
	return a, nil
}

// answerScrub answers, one question of a kind at a time: others wait.
func (e *Engine) answerScrub(ctx context.Context, from string, r *scrubRequest) (a scrubReply) {
	err := error(nil)
	if r.To != e.cfg.Incarnation {
		err = fmt.Errorf("the question is for start %d", r.To)
	}
	turn := e.scrub.digestSlot
	if r.Kind == scrubRead || r.Kind == scrubRelease {
		turn = e.scrub.readSlot // which takes long
	}
	if err == nil {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			err = ctx.Err()
		case <-e.ctx.Done():
			err = feed.ErrClosed
		}
	}
	if err == nil {
		err = e.runScrubQuestion(ctx, from, r, &a)
	}
	if err != nil {
		a.Refusal, a.Damaged = err.Error(), errors.Is(err, ErrDamaged)
	}
	return a
}

func (e *Engine) runScrubQuestion(ctx context.Context, from string, r *scrubRequest, a *scrubReply) (err error) {
	began := time.Now()
	switch r.Kind {
	case scrubDigest:
		a.Digest, err = e.cfg.Store.Digest(r.Range, r.From, min(max(r.Entries, 1), scrubEntries))
		e.restForClients(ctx, time.Since(began))
	case scrubSums:
		if len(r.Parts) > scrubParts {
			return fmt.Errorf("%w: %d parts", frame.ErrMalformed, len(r.Parts))
		}
		a.Sums, err = e.cfg.Store.Sums(r.Range, r.Parts, time.UnixMilli(r.At))
	case scrubRead:
		err = e.cfg.Store.Check(ctx, r.Range, e.readPace(ctx))
	case scrubRelease:
		err = e.releaseDamaged(ctx, from, r.Row)
	case scrubBegin:
		e.ScrubNow()
	default:
		err = fmt.Errorf("%w: a question %.40q", frame.ErrMalformed, r.Kind)
	}
	return err
}

// releaseDamaged releases a backup whose copy is damaged, once it is shown that this node's is not:
// the backup throws its own away then.
func (e *Engine) releaseDamaged(ctx context.Context, node string, ref table.Ref) error {
	row, ok := e.cfg.Table.State().Row(ref.Range.Start)
	if !ok || row.Range != ref.Range || row.Epoch != ref.Epoch || !slices.Contains(row.Backups, node) || !e.ownRow(row) {
		return feed.ErrChanged
	}
	if err := e.cfg.Store.Check(ctx, row.Range, e.readPace(ctx)); err != nil {
		return err
	}
	if err := e.releaseBackup(ctx, row, node); err != nil {
		return err
	}
	e.cfg.Logger.Warn("a backup was damaged by its disk and will be copied again", "node", node, "range", row.Range, "epoch", row.Epoch)
	return nil
}

// ScrubAll has all nodes that are there begin a round at once, as [Engine.ScrubNow] does.
// The error joins one for each that could not be asked.
func (e *Engine) ScrubAll(ctx context.Context) error {
	var faults []error
	for _, n := range e.cfg.Table.State().Nodes() {
		switch {
		case n.Role != table.Store || n.State == table.Gone || n.ID != e.cfg.Self && e.cfg.Away(n.ID):
		case n.ID == e.cfg.Self:
			e.ScrubNow()
		case e.lease.Cfg.Ask == nil:
			faults = append(faults, fmt.Errorf("%s: %w", n.ID, errScrubRefused))
		default:
			within, cancel := context.WithTimeout(ctx, fenceTimeout)
			_, err := e.askScrub(within, n.ID, &scrubRequest{Kind: scrubBegin, To: n.Incarnation})
			cancel()
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", n.ID, err))
			}
		}
	}
	return errors.Join(faults...)
}
