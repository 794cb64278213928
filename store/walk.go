package store

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A walk goes over the entries of keys that exist, in the order of their positions:
// each header, then the sub entries of its generation. What belongs to no header is
// passed over.
type walk struct {
	s    *Store
	iter *pebble.Iterator

	place Place
	key   []byte
	sub   []byte        // without generation; empty: the header
	head  layout.Header // of the key; its value is valid at the header only
	value []byte        // as in Pebble; valid until next

	prefix []byte // of the key, in Pebble
	seek   []byte // where next goes first, unless empty
	err    error
}

// walk begins at a position that is in the interval, or at its beginning with none.
// The caller closes it.
func (s *Store) walk(st layout.Interval, from Position) (*walk, error) {
	lower, upper := st.Bounds(layout.KindData)
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, s.readFailed(err)
	}
	w := &walk{s: s, iter: iter, seek: lower}
	if len(from) <= layout.PlaceSize {
		return w, nil
	}
	w.seek = append([]byte{layout.KindData}, from...)
	key, sub := from.Split()
	if len(sub) == 0 {
		return w, nil
	}
	// Which entries of the key count, its header says.
	prefix := layout.AppendDataPrefix(nil, from.Place(), key)
	w.seek = layout.PrefixEnd(bytes.Clone(prefix))
	if iter.SeekGE(prefix) && bytes.Equal(iter.Key(), prefix) {
		if err := w.enter(); err != nil {
			return nil, errors.Join(s.readFailed(err), iter.Close())
		}
		if w.head.Gen != 0 {
			w.seek = append(binary.BigEndian.AppendUint64(prefix, w.head.Gen), sub...)
		}
	}
	return w, nil
}

// enter makes the header that the iterator stands at the walk's entry.
func (w *walk) enter() error {
	w.prefix = append(w.prefix[:0], w.iter.Key()...)
	p, key, _, err := layout.SplitPlacedKey(w.prefix[1:])
	if err != nil {
		return err
	}
	value, err := w.iter.ValueAndErr()
	if err != nil {
		return err
	}
	w.place, w.key, w.sub, w.value = p, key, nil, value
	return w.head.Parse(value)
}

// next goes to the next entry; false at the end, or with err set.
func (w *walk) next() bool {
	if w.err != nil {
		return false
	}
	ok := false
	if len(w.seek) > 0 {
		ok = w.iter.SeekGE(w.seek)
		w.seek = w.seek[:0]
	} else {
		ok = w.iter.Next()
	}
	for ; ok; ok = w.iter.SeekGE(w.seek) {
		k := w.iter.Key()
		if len(w.prefix) > 0 && bytes.HasPrefix(k, w.prefix) && len(k) > len(w.prefix) {
			gen, sub := k[len(w.prefix):], []byte(nil)
			if len(gen) < layout.GenSize {
				w.err = layout.ErrKey
				return false
			}
			gen, sub = gen[:layout.GenSize], gen[layout.GenSize:]
			switch g := binary.BigEndian.Uint64(gen); {
			case g == w.head.Gen && len(sub) > 0:
				w.sub, w.seek = sub, w.seek[:0]
				w.value, w.err = w.iter.ValueAndErr()
				return w.err == nil
			case g < w.head.Gen:
				w.seek = binary.BigEndian.AppendUint64(append(w.seek[:0], w.prefix...), w.head.Gen)
			default:
				w.seek = layout.PrefixEnd(append(w.seek[:0], w.prefix...))
			}
			continue
		}
		_, _, sub, err := layout.SplitPlacedKey(k[1:])
		if err != nil {
			w.err = err
			return false
		}
		if len(sub) == 0 {
			w.seek = w.seek[:0]
			w.err = w.enter()
			return w.err == nil
		}
		w.seek = layout.PrefixEnd(append(w.seek[:0], k[:len(k)-len(sub)]...))
	}
	w.err = w.iter.Error()
	return false
}

// skipKey lets next go to the next key.
func (w *walk) skipKey() { w.seek = layout.PrefixEnd(append(w.seek[:0], w.prefix...)) }

// isHeader reports whether the entry is one.
func (w *walk) isHeader() bool { return len(w.sub) == 0 }

// isDead reports whether the entry is a header of a key whose time has come, and which
// may be removed here.
func (w *walk) isDead(now int64) bool {
	return w.isHeader() && w.head.Expired(now) && !w.s.passive.Contains(w.place.Token())
}

// deathTime returns the time by which keys are removed: now, or none while nothing can
// be removed.
func (s *Store) deathTime(now int64) int64 {
	if s.Freeable() != nil {
		return beforeAll
	}
	return now
}

// appendPosition appends the position of the entry.
func (w *walk) appendPosition(dst []byte) Position {
	return append(append(dst, w.prefix[1:]...), w.sub...)
}

// close ends the walk and returns what went wrong in it.
func (w *walk) close() error {
	if err := errors.Join(w.err, w.iter.Close()); err != nil {
		return w.s.readFailed(err)
	}
	return nil
}
