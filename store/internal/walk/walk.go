package walk

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A Walk goes over the entries of keys that exist, in the order of their positions:
// each header, then the sub entries of its generation. What belongs to no header is
// passed over.
type Walk struct {
	src  Source
	Iter *pebble.Iterator

	Place layout.Place
	Key   []byte
	Sub   []byte        // without generation; empty: the header
	Head  layout.Header // of the key; its value is valid at the header only
	Value []byte        // as in Pebble; valid until next

	prefix []byte // of the key, in Pebble
	seek   []byte // where next goes first, unless empty
	Err    error
}

// A Source is the store whose entries a walk goes over.
type Source interface {
	NewIter(o *pebble.IterOptions) (*pebble.Iterator, error)
	// ReadFailed returns the error that a failed read becomes.
	ReadFailed(err error) error
	// Expires reports whether keys at a token are removed here when their time has come.
	Expires(t ring.Token) bool
}

// New begins at a position that is in the interval, or at its beginning with none.
// The caller closes it.
func New(src Source, st layout.Interval, from layout.Position) (*Walk, error) {
	lower, upper := st.Bounds(layout.KindData)
	iter, err := src.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, src.ReadFailed(err)
	}
	w := &Walk{src: src, Iter: iter, seek: lower}
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
			return nil, errors.Join(src.ReadFailed(err), iter.Close())
		}
		if w.Head.Gen != 0 {
			w.seek = append(binary.BigEndian.AppendUint64(prefix, w.Head.Gen), sub...)
		}
	}
	return w, nil
}

// enter makes the header that the iterator stands at the walk's entry.
func (w *Walk) enter() error {
	w.prefix = append(w.prefix[:0], w.Iter.Key()...)
	p, key, _, err := layout.SplitPlacedKey(w.prefix[1:])
	if err != nil {
		return err
	}
	value, err := w.Iter.ValueAndErr()
	if err != nil {
		return err
	}
	w.Place, w.Key, w.Sub, w.Value = p, key, nil, value
	return w.Head.Parse(value)
}

// Next goes to the next entry; false at the end, or with err set.
func (w *Walk) Next() bool {
	if w.Err != nil {
		return false
	}
	ok := false
	if len(w.seek) > 0 {
		ok = w.Iter.SeekGE(w.seek)
		w.seek = w.seek[:0]
	} else {
		ok = w.Iter.Next()
	}
	for ; ok; ok = w.Iter.SeekGE(w.seek) {
		k := w.Iter.Key()
		if len(w.prefix) > 0 && bytes.HasPrefix(k, w.prefix) && len(k) > len(w.prefix) {
			gen, sub := k[len(w.prefix):], []byte(nil)
			if len(gen) < layout.GenSize {
				w.Err = layout.ErrKey
				return false
			}
			gen, sub = gen[:layout.GenSize], gen[layout.GenSize:]
			switch g := binary.BigEndian.Uint64(gen); {
			case g == w.Head.Gen && len(sub) > 0:
				w.Sub, w.seek = sub, w.seek[:0]
				w.Value, w.Err = w.Iter.ValueAndErr()
				return w.Err == nil
			case g < w.Head.Gen:
				w.seek = binary.BigEndian.AppendUint64(append(w.seek[:0], w.prefix...), w.Head.Gen)
			default:
				w.seek = layout.PrefixEnd(append(w.seek[:0], w.prefix...))
			}
			continue
		}
		_, _, sub, err := layout.SplitPlacedKey(k[1:])
		if err != nil {
			w.Err = err
			return false
		}
		if len(sub) == 0 {
			w.seek = w.seek[:0]
			w.Err = w.enter()
			return w.Err == nil
		}
		w.seek = layout.PrefixEnd(append(w.seek[:0], k[:len(k)-len(sub)]...))
	}
	w.Err = w.Iter.Error()
	return false
}

// SkipKey lets next go to the next key.
func (w *Walk) SkipKey() { w.seek = layout.PrefixEnd(append(w.seek[:0], w.prefix...)) }

// IsHeader reports whether the entry is one.
func (w *Walk) IsHeader() bool { return len(w.Sub) == 0 }

// IsDead reports whether the entry is a header of a key whose time has come, and which
// may be removed here.
func (w *Walk) IsDead(now int64) bool {
	return w.IsHeader() && w.Head.Expired(now) && w.src.Expires(w.Place.Token())
}

// AppendPosition appends the position of the entry.
func (w *Walk) AppendPosition(dst []byte) layout.Position {
	return append(append(dst, w.prefix[1:]...), w.Sub...)
}

// Close ends the walk and returns what went wrong in it.
func (w *Walk) Close() error {
	if err := errors.Join(w.Err, w.Iter.Close()); err != nil {
		return w.src.ReadFailed(err)
	}
	return nil
}
