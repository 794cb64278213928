package store

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// followed says where receivers apply what another store has changed, or have applied it, and
// until when. It keeps a unit that began while this store had the say in a range from
// committing there after that: the unit goes by what it read before, holds no lock of the
// receiver's, and would undo acknowledged writes of the other store.
//
// Invariant: a unit that finds its turn in turn when it commits has begun after the last range
// was given to a receiver. turn changes only while Store.commits is locked, which a unit that
// looks at it holds for reading until its changes can be seen.
type followed struct {
	turn atomic.Uint64 // rises with each change of the receivers' ranges

	mu     sync.Mutex
	ranges map[*Receiver][]layout.Interval // in order, without overlaps
	pieces []followedPiece                 // in order; Store.commits guards it, too
}

// A followedPiece is an interval that is followed, or was until a turn.
type followedPiece struct {
	layout.Interval
	until uint64 // stillFollowed: it is
}

const stillFollowed = ^uint64(0)

// follow notes which intervals a receiver has from now on.
func (s *Store) follow(rc *Receiver, now []layout.Interval) {
	s.followEach([]*Receiver{rc}, [][]layout.Interval{now})
}

// followEach notes which intervals receivers have from now on, all at one moment; nil: none has any.
func (s *Store) followEach(rcs []*Receiver, now [][]layout.Interval) {
	f := &s.followed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ranges == nil {
		f.ranges = make(map[*Receiver][]layout.Interval)
	}
	changed := false
	for i, rc := range rcs {
		var has []layout.Interval
		if now != nil {
			has = now[i]
		}
		if slices.Equal(f.ranges[rc], has) {
			continue
		}
		changed = true
		if f.ranges[rc] = has; len(has) == 0 {
			delete(f.ranges, rc)
		}
	}
	if !changed {
		return
	}
	var all []layout.Interval
	for _, sts := range f.ranges {
		all = append(all, sts...)
	}
	s.commits.Lock()
	defer s.commits.Unlock()
	turn := f.turn.Load() + 1
	f.pieces = followedNext(f.pieces, layout.Union(all), turn)
	f.turn.Store(turn)
}

// followedNext returns the pieces once others are followed than before: those in now, which are
// in order with gaps between them.
func followedNext(before []followedPiece, now []layout.Interval, turn uint64) (next []followedPiece) {
	add := func(first, last Place, until uint64) {
		if n := len(next); n > 0 && next[n-1].until == until && next[n-1].Last+1 == first {
			next[n-1].Last = last
			return
		}
		next = append(next, followedPiece{layout.Interval{First: first, Last: last}, until})
	}
	// gone adds what is left of the pieces before between two places.
	i := 0
	gone := func(first, last Place) {
		for ; i < len(before) && before[i].First <= last; i++ {
			if b := before[i]; b.Last >= first {
				add(max(b.First, first), min(b.Last, last), min(b.until, turn))
				if b.Last > last {
					return
				}
			}
		}
	}
	from := Place(0)
	for _, st := range now {
		if st.First > from {
			gone(from, st.First-1)
		}
		add(st.First, st.Last, stillFollowed)
		if st.Last == ^Place(0) {
			return next
		}
		from = st.Last + 1
	}
	gone(from, ^Place(0))
	return next
}

// isFollowed returns an error if the unit has changed a key that a receiver may have changed
// since it began, or is the unit of a receiver that is over; dirty is what writeHeaders returned. The
// caller holds Store.commits for reading.
func (u *Unit) isFollowed(dirty *pebble.Batch) error {
	f := &u.s.followed
	if u.mayCommit != nil {
		if err := u.mayCommit(); err != nil {
			return err
		}
	}
	if u.following || u.followTurn == f.turn.Load() {
		return nil
	}
	for _, b := range []*pebble.Batch{u.batch, dirty} {
		if b != nil && f.hasFollowed(b.Reader(), u.followTurn) {
			return fmt.Errorf("commit: %w", ErrFollows)
		}
	}
	return nil
}

// hasFollowed reports whether a batch has a key that a receiver may have changed since a turn.
func (f *followed) hasFollowed(r batchrepr.Reader, turn uint64) bool {
	for {
		kind, k, _, ok, err := r.Next()
		if !ok || err != nil {
			return false // the batch is the unit's own: it is well-formed
		}
		if len(k) < 1+layout.PlaceSize || k[0] != layout.KindData || kind == pebble.InternalKeyKindLogData {
			continue
		}
		p := Place(binary.BigEndian.Uint64(k[1:]))
		if at := findFollowed(f.pieces, p); at != nil && at.until > turn {
			return true
		}
	}
}

// findFollowed returns the piece in which a place lies, or nil.
func findFollowed(pieces []followedPiece, p Place) *followedPiece {
	low, high := 0, len(pieces)
	for low < high {
		if mid := (low + high) / 2; pieces[mid].Last < p {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(pieces) && pieces[low].First <= p {
		return &pieces[low]
	}
	return nil
}
