package store

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/background"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// The index of expiry times is in the order of time, so a dropped range's entries lie
// scattered in it. A mark says that they are to be removed in the background:
//
//	kindMeta | "drop" | first place 8 B BE | last place 8 B BE

var droppedPrefix = []byte{layout.KindMeta, 'd', 'r', 'o', 'p'}

func droppedKey(st layout.Interval) []byte {
	k := binary.BigEndian.AppendUint64(slices.Clone(droppedPrefix), uint64(st.First))
	return binary.BigEndian.AppendUint64(k, uint64(st.Last))
}

// sweepDropped removes what dropped ranges have left in the index of expiry times.
// What has come back since stays.
func (x *expirer) sweepDropped() error {
	drops := x.s.dropper.drops.Load()
	x.sweepPending.Store(false)
	sts, err := x.droppedIntervals()
	if err != nil || len(sts) == 0 {
		return err
	}
	from := []byte{layout.KindExpiry}
	for from != nil && !x.s.isStopping() {
		background.Yield()
		if from, err = x.sweepIndex(from, sts); err != nil {
			x.sweepPending.Store(true)
			return err
		}
	}
	x.s.checkpoints.Lock()
	defer x.s.checkpoints.Unlock()
	if from != nil || x.s.dropper.drops.Load() != drops {
		return nil // not yet at the end, or again: the next round does the rest
	}
	b := x.s.db.NewBatch()
	for _, st := range sts {
		_ = b.Delete(droppedKey(st), nil)
	}
	return errors.Join(x.s.writeRemoval(b), b.Close())
}

func (x *expirer) droppedIntervals() ([]layout.Interval, error) {
	return x.s.markedIntervals(droppedPrefix)
}

// markedIntervals returns the intervals of marks with a prefix.
func (s *Store) markedIntervals(prefix []byte) (sts []layout.Interval, err error) {
	iter, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: prefix,
		UpperBound: layout.PrefixEnd(slices.Clone(prefix)),
	})
	if err != nil {
		return nil, s.readFailed(err)
	}
	for iter.First(); iter.Valid(); iter.Next() {
		if k := iter.Key()[len(prefix):]; len(k) == 2*layout.PlaceSize {
			sts = append(sts, layout.Interval{First: Place(binary.BigEndian.Uint64(k)), Last: Place(binary.BigEndian.Uint64(k[layout.PlaceSize:]))})
		}
	}
	if err = errors.Join(iter.Error(), iter.Close()); err != nil {
		return nil, s.readFailed(err)
	}
	return sts, nil
}

// sweepStep is how many entries of the index are looked at in one go.
const sweepStep = 8192

// sweepIndex removes those entries of the index from a key on that are of the given
// intervals and wrong. It returns where to go on, or nil.
func (x *expirer) sweepIndex(from []byte, sts []layout.Interval) (next []byte, err error) {
	iter, err := x.s.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: []byte{layout.KindExpiry + 1}})
	if err != nil {
		return nil, x.s.readFailed(err)
	}
	var due []expiring
	n := 0
	for iter.First(); iter.Valid() && n < sweepStep && len(due) < expireBatch; iter.Next() {
		n++
		k := iter.Key()
		next = append(next[:0], k...)
		at, p, key, splitErr := layout.SplitExpiryKey(k)
		if err = splitErr; err != nil {
			break
		}
		if slices.ContainsFunc(sts, func(st layout.Interval) bool { return p >= st.First && p <= st.Last }) {
			due = append(due, expiring{place: p, key: slices.Clone(key), at: at})
		}
	}
	more := iter.Valid()
	if err = errors.Join(err, iter.Error(), iter.Close()); err != nil {
		return nil, x.s.readFailed(err)
	}
	if len(due) > 0 {
		if _, err := x.expireKeys(beforeAll, due, nil); err != nil {
			return nil, err
		}
	}
	if !more {
		return nil, nil
	}
	return append(next, 0), nil
}
