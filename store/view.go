package store

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A view is all keys as one reader sees them: as they are in Pebble, or as a unit does, which has
// changed some of them.
type view struct {
	s        *Store
	now      int64
	own      *ownChanges
	database int              // of which it draws random keys
	snapshot *pebble.Snapshot // that it reads; nil: what there is now
}

// ownChanges are the changes of a unit's headers, for readers of all keys.
type ownChanges struct {
	made   uint64      // Unit.headChanges, for which they are right
	sorted []ownChange // in Pebble's order
	live   []*change   // those by which there is a key
}

type ownChange struct {
	at []byte // the key in Pebble
	*change
}

func (s *Store) view() view { return view{s: s, now: s.now(), own: &ownChanges{}} }

func (u *Unit) view() view {
	v := view{s: u.s, now: u.now, own: &u.own}
	if u.own.made == u.headChanges {
		return v
	}
	u.own = ownChanges{made: u.headChanges}
	for i := range u.changes {
		c := &u.changes[i]
		u.own.sorted = append(u.own.sorted, ownChange{at: layout.AppendDataPrefix(nil, c.place, c.key), change: c})
		var h layout.Header
		if c.line != nil && h.Parse(c.line) == nil && !h.Expired(u.now) {
			u.own.live = append(u.own.live, c)
		}
	}
	slices.SortFunc(u.own.sorted, func(a, b ownChange) int { return bytes.Compare(a.at, b.at) })
	return v
}

// changed tells whether the unit has changed a key of v.
func (v view) changed(p Place, key []byte) bool {
	if len(v.own.sorted) == 0 {
		return false
	}
	at := layout.AppendDataPrefix(nil, p, key)
	_, found := slices.BinarySearchFunc(v.own.sorted, at, func(c ownChange, at []byte) int { return bytes.Compare(c.at, at) })
	return found
}

// each calls visit for each header from a place on, until it returns false.
func (v view) each(from Place, visit func(Place, []byte, *layout.Header) bool) error {
	if len(v.own.sorted) == 0 {
		return v.s.scanner.eachFrom(from, v.snapshot, visit)
	}
	var err error
	first, _ := slices.BinarySearchFunc(v.own.sorted, from, func(c ownChange, from Place) int {
		if c.place < from {
			return -1
		}
		return 1
	})
	own, at, more := v.own.sorted[first:], []byte(nil), true
	next := func() { // visits the first of the unit's own
		c := own[0]
		own = own[1:]
		if c.line == nil {
			return
		}
		var h layout.Header
		if err = h.Parse(c.line); err != nil {
			more = false
			return
		}
		more = visit(c.place, c.key, &h)
	}
	failed := v.s.scanner.eachFrom(from, v.snapshot, func(p Place, key []byte, h *layout.Header) bool {
		at = layout.AppendDataPrefix(at[:0], p, key)
		for more && len(own) > 0 && bytes.Compare(own[0].at, at) < 0 {
			next()
		}
		switch {
		case !more:
		case len(own) > 0 && bytes.Equal(own[0].at, at):
			next()
		default:
			more = visit(p, key, h)
		}
		return more
	})
	for failed == nil && more && len(own) > 0 {
		next()
	}
	if failed != nil {
		return failed
	}
	return err
}

// NewKeys is how many keys more a database has by what the unit has changed, or fewer if it is
// negative.
func (u *Unit) NewKeys(database int) (n int64) {
	for _, d := range u.deltas {
		if int(d.Database) == database {
			n += int64(d.Keys)
		}
	}
	return n
}

// ScanIn is [Store.ScanIn] as the unit sees the store.
func (u *Unit) ScanIn(span ring.Range, from Cursor, count int, visit func(Entry) bool) (next Cursor, ended bool, err error) {
	return u.view().scanIn(span, from, count, visit)
}

// RandomKeyIn is [Store.RandomKeyIn] as the unit sees the store, where all that it has changed
// lies in the spans.
func (u *Unit) RandomKeyIn(number int, spans []ring.Range) ([]byte, error) {
	v := u.view()
	v.database = number
	var live []*change
	for _, c := range v.own.live {
		if database.Of(c.key) == number {
			live = append(live, c)
		}
	}
	keys := u.NewKeys(number)
	for _, span := range spans {
		keys += v.keysIn(span)
	}
	if len(live) == 0 || rand.Int64N(max(keys, 1)) >= int64(len(live)) {
		if key, err := v.randomKeyIn(spans); key != nil || err != nil {
			return key, err
		}
	}
	if len(live) == 0 {
		return nil, nil
	}
	return live[rand.IntN(len(live))].key, nil
}
