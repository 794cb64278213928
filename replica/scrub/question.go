package scrub

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
	kindDigest  = "digest" // digests of the node's entries, from a position on
	kindSums    = "sums"   // hashes of key spans
	kindRead    = "read"   // can the node read its whole copy?
	kindRelease = "yield"  // to a primary: release the asking node, whose copy is damaged
	kindBegin   = "begin"  // start a round
)

// A Request is a question to the scrub of another node, as JSON.
type Request struct {
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

// A Reply is the answer to a Request, as JSON.
type Reply struct {
	// Refusal is why there is no answer; Damaged says that the node cannot read its copy.
	Refusal string
	Damaged bool
	Digest  []byte
	Sums    []uint64
}

// startTimeout bounds an order to another node to start a round.
const startTimeout = time.Second

// errRefused says that another node does not answer.
var errRefused = errors.New("it cannot tell")

func (s *Scrub) ask(ctx context.Context, node string, r *Request) (*Reply, error) {
	a := new(Reply)
	if err := s.cfg.Ask(ctx, node, r, a); err != nil {
		return nil, err
	}
	switch {
	case a.Damaged:
		return nil, fmt.Errorf("%s: %w: %.300s", node, ErrDamaged, a.Refusal)
	case a.Refusal != "":
		return nil, fmt.Errorf("%s: %w: %.300s", node, errRefused, a.Refusal)
	}
	return a, nil
}

// Answer answers a question of another node, whose identity the caller has verified. It answers one question of a kind at a time; others wait.
func (s *Scrub) Answer(ctx context.Context, from string, r *Request) (a Reply) {
	err := error(nil)
	if r.To != s.cfg.Incarnation {
		err = fmt.Errorf("the question is for start %d", r.To)
	}
	turn := s.digestSlot
	if r.Kind == kindRead || r.Kind == kindRelease {
		turn = s.readSlot // questions that take long
	}
	if err == nil {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			err = ctx.Err()
		case <-s.cfg.Done:
			err = feed.ErrClosed
		}
	}
	if err == nil {
		err = s.runQuestion(ctx, from, r, &a)
	}
	if err != nil {
		a.Refusal, a.Damaged = err.Error(), errors.Is(err, ErrDamaged)
	}
	return a
}

func (s *Scrub) runQuestion(ctx context.Context, from string, r *Request, a *Reply) (err error) {
	began := time.Now()
	switch r.Kind {
	case kindDigest:
		a.Digest, err = s.cfg.Store.Digest(r.Range, r.From, min(max(r.Entries, 1), maxEntries))
		s.cfg.Pacer.RestForClients(ctx, time.Since(began))
	case kindSums:
		if len(r.Parts) > maxParts {
			return fmt.Errorf("%w: %d parts", frame.ErrMalformed, len(r.Parts))
		}
		a.Sums, err = s.cfg.Store.Sums(r.Range, r.Parts, time.UnixMilli(r.At))
	case kindRead:
		err = s.cfg.Store.Check(ctx, r.Range, s.readPace(ctx))
	case kindRelease:
		err = s.releaseDamaged(ctx, from, r.Row)
	case kindBegin:
		s.StartRound()
	default:
		err = fmt.Errorf("%w: a question %.40q", frame.ErrMalformed, r.Kind)
	}
	return err
}

// releaseDamaged releases a backup whose copy is damaged, once this node has read its own copy
// completely. The backup removes its copy then.
func (s *Scrub) releaseDamaged(ctx context.Context, node string, ref table.Ref) error {
	row, ok := s.cfg.Table.State().Row(ref.Range.Start)
	if !ok || row.Range != ref.Range || row.Epoch != ref.Epoch || !slices.Contains(row.Backups, node) || !s.ownRow(row) {
		return feed.ErrChanged
	}
	if err := s.cfg.Store.Check(ctx, row.Range, s.readPace(ctx)); err != nil {
		return err
	}
	if err := s.releaseBackup(ctx, row, node); err != nil {
		return err
	}
	s.cfg.Logger.Warn("a backup was damaged by its disk and will be copied again", "node", node, "range", row.Range, "epoch", row.Epoch)
	return nil
}

// StartAll starts a round on all running nodes, like [Scrub.StartRound]. The error joins one for
// each node that could not be asked.
func (s *Scrub) StartAll(ctx context.Context) error {
	var faults []error
	for _, n := range s.cfg.Table.State().Nodes() {
		switch {
		case n.Role != table.Store || n.State == table.Gone || n.ID != s.cfg.Self && s.cfg.Away(n.ID):
		case n.ID == s.cfg.Self:
			s.StartRound()
		case s.cfg.Ask == nil:
			faults = append(faults, fmt.Errorf("%s: %w", n.ID, errRefused))
		default:
			within, cancel := context.WithTimeout(ctx, startTimeout)
			_, err := s.ask(within, n.ID, &Request{Kind: kindBegin, To: n.Incarnation})
			cancel()
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", n.ID, err))
			}
		}
	}
	return errors.Join(faults...)
}
