package store

import (
	"github.com/ringside-kv/ringside/store/internal/cache"
	"github.com/ringside-kv/ringside/store/internal/latch"
)

// Items are elements of a list that follow each other.
type Items = cache.Items

// GetItems does what Get does and, if that is a list which is not whole, fills into with n of its items from a sub key on,
// as of the same moment; which says both, given the value. It may add others before, and may be called though ok is false. That is so if not all of them are in the cache, if n is negative, if a writer came in
// between, or if the unit has the key's latch or an iterator on it: GetWhole and Elements find them then. Only ItemKind sub
// keys name items.
func (u *Unit) GetItems(key []byte, which func(*Value) (sub []byte, n int64), into *Items) (v Value, ok bool, err error) {
	into.Clear()
	p := u.Place(key)
	l := &u.s.latches[latch.Of(p)]
	version := l.Version()
	if u.holds(p) || u.reader(p, key) != nil {
		return v, false, nil
	}
	if v, err = u.Get(key); err != nil || v.gen == 0 || v.Type != List {
		return v, false, err
	}
	sub, n := which(&v)
	if n < 0 || n > cache.MaxItems || n > 0 && !u.s.cache.Items(p, v.gen, sub, int(n), v.Chunks, into) {
		return v, false, nil
	}
	u.noteRead(l, p)
	return v, l.Version() == version, nil
}
