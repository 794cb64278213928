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

// Questions of a scrub to other nodes.
const (
	scrubDigest  = "digest" // digests of the node's entries, from a position on
	scrubSums    = "sums"   // hashes of key spans
	scrubRead    = "read"   // can the node read its whole copy?
	scrubRelease = "yield"  // to a primary: release the asking node, whose copy is damaged
	scrubBegin   = "begin"  // start a round
)

type scrubRequest struct {
	Kind string
	// To is the incarnation of the asked node.
	To    uint64
	Range ring.Range
	// From and Entries belong to a digest; Parts and At, in ms since 1970, to sums.
	From    []byte
	Entries int
	Parts   []KeySpan
	At      int64
	// Row is the row to be released.
	Row table.Ref
}

type scrubReply struct {
	// Refusal is why there is no answer; Damaged says that the node cannot read its copy.
	Refusal string
	Damaged bool
	Digest  []byte
	Sums    []uint64
}

// errScrubRefused says that another node does not answer.
var errScrubRefused = errors.New("it cannot tell")

func (s *scrub) askScrub(ctx context.Context, node string, r *scrubRequest) (*scrubReply, error) {
	a := new(scrubReply)
	if err := s.e.ask(ctx, node, questionScrub, r, a); err != nil {
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

// answerScrub answers one question of a kind at a time; others wait.
func (s *scrub) answerScrub(ctx context.Context, from string, r *scrubRequest) (a scrubReply) {
	err := error(nil)
	if r.To != s.e.cfg.Incarnation {
		err = fmt.Errorf("the question is for start %d", r.To)
	}
	turn := s.digestSlot
	if r.Kind == scrubRead || r.Kind == scrubRelease {
		turn = s.readSlot // questions that take long
	}
	if err == nil {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			err = ctx.Err()
		case <-s.e.ctx.Done():
			err = feed.ErrClosed
		}
	}
	if err == nil {
		err = s.runScrubQuestion(ctx, from, r, &a)
	}
	if err != nil {
		a.Refusal, a.Damaged = err.Error(), errors.Is(err, ErrDamaged)
	}
	return a
}

func (s *scrub) runScrubQuestion(ctx context.Context, from string, r *scrubRequest, a *scrubReply) (err error) {
	began := time.Now()
	switch r.Kind {
	case scrubDigest:
		a.Digest, err = s.e.cfg.Store.Digest(r.Range, r.From, min(max(r.Entries, 1), scrubEntries))
		s.e.restForClients(ctx, time.Since(began))
	case scrubSums:
		if len(r.Parts) > scrubParts {
			return fmt.Errorf("%w: %d parts", frame.ErrMalformed, len(r.Parts))
		}
		a.Sums, err = s.e.cfg.Store.Sums(r.Range, r.Parts, time.UnixMilli(r.At))
	case scrubRead:
		err = s.e.cfg.Store.Check(ctx, r.Range, s.readPace(ctx))
	case scrubRelease:
		err = s.releaseDamaged(ctx, from, r.Row)
	case scrubBegin:
		s.ScrubNow()
	default:
		err = fmt.Errorf("%w: a question %.40q", frame.ErrMalformed, r.Kind)
	}
	return err
}

// releaseDamaged releases a backup whose copy is damaged, once this node has read its own copy
// completely. The backup removes its copy then.
func (s *scrub) releaseDamaged(ctx context.Context, node string, ref table.Ref) error {
	row, ok := s.e.cfg.Table.State().Row(ref.Range.Start)
	if !ok || row.Range != ref.Range || row.Epoch != ref.Epoch || !slices.Contains(row.Backups, node) || !s.ownRow(row) {
		return feed.ErrChanged
	}
	if err := s.e.cfg.Store.Check(ctx, row.Range, s.readPace(ctx)); err != nil {
		return err
	}
	if err := s.releaseBackup(ctx, row, node); err != nil {
		return err
	}
	s.e.cfg.Logger.Warn("a backup was damaged by its disk and will be copied again", "node", node, "range", row.Range, "epoch", row.Epoch)
	return nil
}

// ScrubAll starts a round on all running nodes, like [Engine.ScrubNow]. The error joins one for
// each node that could not be asked.
func (s *scrub) ScrubAll(ctx context.Context) error {
	var faults []error
	for _, n := range s.e.cfg.Table.State().Nodes() {
		switch {
		case n.Role != table.Store || n.State == table.Gone || n.ID != s.e.cfg.Self && s.e.cfg.Away(n.ID):
		case n.ID == s.e.cfg.Self:
			s.ScrubNow()
		case s.e.lease.Cfg.Ask == nil:
			faults = append(faults, fmt.Errorf("%s: %w", n.ID, errScrubRefused))
		default:
			within, cancel := context.WithTimeout(ctx, fenceTimeout)
			_, err := s.askScrub(within, n.ID, &scrubRequest{Kind: scrubBegin, To: n.Incarnation})
			cancel()
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", n.ID, err))
			}
		}
	}
	return errors.Join(faults...)
}
