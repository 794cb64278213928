package keys

import (
	"bytes"
	"errors"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// A sortPattern is what stands behind BY or GET: it names a key, or a field of a hash, for
// each element, which stands in the place of the asterisk. A pattern without one names
// nothing, and # is the element itself.
type sortPattern struct {
	element        bool
	names          bool
	prefix, suffix []byte // of the key
	field          []byte // nil: the key is a string's
}

func parseSortPattern(b []byte) (p sortPattern) {
	if string(b) == "#" {
		p.element = true
		return p
	}
	if p.prefix, p.suffix, p.names = bytes.Cut(b, []byte("*")); !p.names {
		return p
	}
	if key, field, ok := bytes.Cut(p.suffix, []byte("->")); ok && len(field) > 0 {
		p.suffix, p.field = key, field
	}
	return p
}

// near reports whether all keys that the pattern names have the token of key: since the database is kept together, or by
// a hash tag in front of the asterisk, so that no element can change it.
func (p *sortPattern) near(u *store.Unit, key []byte) bool {
	if database.HeadOf(key).Together() {
		return true
	}
	open := bytes.IndexByte(p.prefix, '{')
	if open < 0 || bytes.IndexByte(p.prefix[open+1:], '}') < 1 {
		return false
	}
	return u.Place(p.prefix).Token() == u.Place(key).Token()
}

// errSortMoving answers SORT that would read a key which lies elsewhere for now.
var errSortMoving = command.ReplyError("TRYAGAIN keys of the database are moving, among them some that a pattern of SORT names")

// find returns what a pattern names for an element, and whether there is such a thing. What
// it reads is counted as used.
func (s *sorter) find(p *sortPattern, element []byte) (value []byte, ok bool, err error) {
	switch {
	case p.element:
		return element, true, nil
	case !p.names:
		return nil, false, nil
	}
	name := make([]byte, database.HeadSize, database.HeadSize+len(p.prefix)+len(element)+len(p.suffix))
	name = append(append(append(name, p.prefix...), element...), p.suffix...)
	key := name[database.HeadSize:]
	if head := database.HeadOf(s.Args[1]); head != 0 || database.HasMark(key) {
		key = database.AppendKey(name[:0], head, bytes.Clone(key))
	}
	switch {
	case !s.uses(len(key)):
		return nil, false, errSortMemory
	case !s.Host.IsHere(key):
		return nil, false, errSortMoving
	}
	if place := s.Unit.Place(key); s.InTransaction && !s.Unit.HasLatch(place) {
		s.MorePlaces = append(s.MorePlaces, place)
		return nil, false, errWidens
	}
	if p.field != nil {
		return s.findField(key, p.field)
	}
	v, err := s.Unit.Get(key)
	if err != nil || v.Type != store.String {
		return nil, false, err
	}
	if !s.uses(int(v.Size)) {
		return nil, false, errSortMemory
	}
	value, err = s.Unit.Bytes(key, v)
	return value, true, err
}

func (s *sorter) findField(key, field []byte) (value []byte, ok bool, err error) {
	var t collection.Table
	err = t.Open(s.Unit, key, store.Hash)
	if err == nil && t.Value().Exists() {
		value, ok, err = t.Get(field)
	}
	if errors.Is(err, collection.ErrType) {
		return nil, false, nil
	}
	if !s.uses(len(value) + len(t.Value().Inline)) {
		return nil, false, errSortMemory
	}
	return value, ok, err
}
