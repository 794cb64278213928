package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/replica/scrub"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// The store as a scrub sees it.

// digestBytes bounds a digest of a scrub, in bytes.
const digestBytes = 1 << 20

// Digest implements scrub.Store.
func (s Store) Digest(r ring.Range, from []byte, entries int) ([]byte, error) {
	digests, err := s.Store.Digest(r, from, entries)
	if err != nil {
		return nil, damaged(err)
	}
	digests.Cut(digestBytes)
	return digests.Append(nil), nil
}

// DifferingSpans implements scrub.Store.
func (s Store) DifferingSpans(r ring.Range, digest []byte) (parts []scrub.KeySpan, next []byte, err error) {
	digests, err := store.ParseDigests(digest)
	if err != nil {
		return nil, nil, fmt.Errorf("a digest of another node: %w", err)
	}
	spans, err := s.Store.DifferingSpans(r, digests)
	if err != nil {
		return nil, nil, damaged(err)
	}
	for _, sp := range spans {
		parts = append(parts, scrub.KeySpan{From: sp.From, To: sp.To})
	}
	if !digests.End.AtEnd() {
		next = digests.End
	}
	return parts, next, nil
}

// Sums implements scrub.Store.
func (s Store) Sums(r ring.Range, parts []scrub.KeySpan, at time.Time) ([]uint64, error) {
	sums := make([]uint64, len(parts))
	for i, p := range parts {
		var err error
		if sums[i], err = s.LiveSum(r, store.Span{From: p.From, To: p.To}, at); err != nil {
			return nil, damaged(err)
		}
	}
	return sums, nil
}

// Watch implements scrub.Store.
func (s Store) Watch(r ring.Range, parts []scrub.KeySpan) (scrub.ChangeCounter, error) {
	ranges := make([]ring.Range, len(parts))
	for i, p := range parts {
		var err error
		if ranges[i], err = (store.Span{From: p.From, To: p.To}).Tokens(r); err != nil {
			return nil, err
		}
	}
	return s.Store.Watch(ranges...), nil
}

// Check implements scrub.Store.
func (s Store) Check(ctx context.Context, r ring.Range, pace func(bytes int)) error {
	return damaged(s.CheckRange(ctx, r, pace))
}

// CheckTables implements scrub.Store.
func (s Store) CheckTables(ctx context.Context, r ring.Range, pace func(bytes int)) error {
	return damaged(s.Store.CheckTables(ctx, r, pace))
}

// Discard implements scrub.Store.
func (s Store) Discard(ranges ...ring.Range) error { return damaged(s.DiscardRanges(ranges...)) }

// damaged converts an error of the store to one of the engine.
func damaged(err error) error {
	if errors.Is(err, store.ErrDamaged) {
		return fmt.Errorf("%w: %w", scrub.ErrDamaged, err)
	}
	return err
}
