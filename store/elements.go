package store

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/elements"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// An Elements goes over elements of a collection in the order of their sub keys, as they are when it is made: of what
// the unit changes meanwhile, it sees nothing. In a unit without the key's latch there is only one at a time. The
// caller closes it.
type Elements = elements.Walk

// Elements returns those with sub keys from one up to, not including, another; an empty to is no bound. v is as with
// Element. It goes backwards if back is set.
func (u *Unit) Elements(key []byte, v *Value, from, to []byte, back bool) *Elements {
	src := source{u.s}
	b := elements.Bounds{Prefix: len(u.elementKey(key, v, nil)), Back: back}
	b.Lower = append(bytes.Clone(u.pbuf), from...)
	if len(to) > 0 {
		b.Upper = append(bytes.Clone(u.pbuf), to...)
	} else {
		b.Upper = layout.PrefixEnd(bytes.Clone(u.pbuf))
	}
	if bytes.Compare(b.Lower, b.Upper) >= 0 {
		return elements.None(src, b, nil)
	}
	if r := u.reader(v.place, key); r != nil {
		return elements.Of(src, b, r.iter)
	}
	mayWait(u)
	iter, err := u.s.db.NewIter(&pebble.IterOptions{LowerBound: b.Lower, UpperBound: b.Upper})
	if err != nil {
		return elements.None(src, b, u.s.readFailed(err))
	}
	return elements.New(src, b, iter, u.elements.Within(b.Lower, b.Upper), u.elements.Ranges)
}
