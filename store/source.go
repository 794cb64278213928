package store

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
	"github.com/ringside-kv/ringside/store/internal/walk"
)

// A source is the store as package walk sees it.
type source struct{ s *Store }

// NewIter implements walk.Source.
func (src source) NewIter(o *pebble.IterOptions) (*pebble.Iterator, error) {
	return src.s.cleaner.NewIter(o)
}

// ReadFailed implements walk.Source.
func (src source) ReadFailed(err error) error { return src.s.readFailed(err) }

// Expires implements walk.Source.
func (src source) Expires(t ring.Token) bool { return !src.s.passive.Contains(t) }

// walk returns a walk over an interval from a position on.
func (s *Store) walk(st layout.Interval, from Position) (*walk.Walk, error) {
	return walk.New(source{s}, st, from)
}

// deathTime returns the time by which keys are removed: now, or none while nothing can
// be removed.
func (s *Store) deathTime(now int64) int64 {
	if s.AcceptsRemovals() != nil {
		return beforeAll
	}
	return now
}

// CutBatch returns that part of a batch which lies before a position of a range, for
// a store that has a copy up to there and no more; nil if nothing does. The batch
// must be of that range.
func (s *Store) CutBatch(batch []byte, r ring.Range, at Position) ([]byte, error) {
	return ops.Before(s.token, batch, r, at)
}

// BatchWithin returns that part of a batch of a tap which lies in some ranges, nil if
// nothing does.
func (s *Store) BatchWithin(batch []byte, ranges ...ring.Range) ([]byte, error) {
	return ops.Within(s.token, batch, ranges...)
}

// PassedTombstones implements elements.Source.
func (src source) PassedTombstones(n int) { src.s.housekeeper.passedTombstones.Add(int64(n)) }
