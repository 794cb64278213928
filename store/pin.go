package store

import (
	"bytes"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/cleaner"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/pin"
)

// A Pin is what the store held at one moment, whatever is written later. While it is open, nothing of that is
// removed from disk. Its methods may be called from any goroutine, also beside Close.
type Pin struct {
	*pin.Snapshot
	Time int64 // the moment, in ms since 1970: keys that had expired by then do not exist
	s    *Store
}

// drainTimeout is how long Freeze waits for units that run. Those that take longer, such as scripts, wait with
// their latches held if they are to commit before thaw.
const drainTimeout = 20 * time.Millisecond

// PrepareFreeze writes most of what only the cache holds, so that Freeze has little to do. Commits go on meanwhile.
func (s *Store) PrepareFreeze() error { return s.cleaner.CleanMost() }

// Freeze pins what the store holds, and has no unit with latches begin, and nothing commit, until thaw is
// called, soon. thaw may be called from any goroutine and more than once. What was pinned may wait for its
// acknowledgement, and for the disk: see [Store.AwaitAll]. After ErrFrozen, try again soon.
func (s *Store) Freeze() (p *Pin, thaw func(), err error) {
	p = &Pin{s: s}
	if err := s.cleaner.CleanMost(); err != nil {
		return nil, nil, err
	}
	p.Snapshot, thaw, err = s.pins.Freeze(func() { s.latches.Drain(drainTimeout) }, func() (*pebble.Snapshot, error) {
		p.Time = s.now()
		if err := s.AcceptsRemovals(); err != nil {
			return nil, err
		}
		if err := s.cleaner.CleanLocked(0, cleaner.LastSlice); err != nil {
			return nil, err
		}
		return s.db.NewSnapshot()
	})
	return p, thaw, err
}

// ScanIn is [Store.ScanIn] of what is pinned.
func (p *Pin) ScanIn(span ring.Range, from Cursor, count int, visit func(Entry) bool) (next Cursor, ended bool, err error) {
	err = p.Read(func(snapshot *pebble.Snapshot) (err error) {
		v := view{s: p.s, now: p.Time, own: new(ownChanges), snapshot: snapshot}
		next, ended, err = v.scanIn(span, from, count, visit)
		return err
	})
	return next, ended, err
}

// View calls do with the pinned value of a key, if there was one: what [Unit.GetWhole] would have returned.
// do may read it with the unit, and nothing else.
func (p *Pin) View(u *Unit, key []byte, do func(Value) error) error {
	return p.Read(func(snapshot *pebble.Snapshot) error {
		u.Begin(p.Time, nil)
		defer u.Abort()
		place := u.Place(key)
		prefix := layout.AppendDataPrefix(nil, place, key)
		iter, err := snapshot.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: layout.PrefixEnd(bytes.Clone(prefix))})
		if err != nil {
			return p.s.readFailed(err)
		}
		u.readers = append(u.readers, pieceReader{place, key, iter})
		h, err := u.openReader(place, key)
		if err != nil || h.Type == None {
			return err
		}
		var v Value
		v.set(&h, place)
		return do(v)
	})
}
