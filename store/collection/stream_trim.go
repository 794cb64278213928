package collection

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/ringside-kv/ringside/store"
)

// TrimNode is how many entries go at a time where a trim is only approximate, by default: as many as
// Redis keeps in a node, which it removes whole or not at all.
const TrimNode = 100

// A Trim says which of the first entries of a stream go.
type Trim struct {
	// MaxLen is how many stay, unless it is negative; then all before MinID go.
	MaxLen int64
	MinID  ID
	// Approx: only whole nodes of entries go, or all. A node has Node entries, TrimNode if that is 0.
	Approx bool
	Node   int64
	// Limit is how many go at most, if it is above 0.
	Limit int64
}

// fewRemoved are removed one by one: a range is dearer than some entries, to those who read
// there later.
const fewRemoved = 256

// Trim removes entries at the beginning and returns how many. It reads as many entries as go,
// or twice as many as stay if these are fewer.
func (s *Stream) Trim(t Trim) (n int64, err error) {
	length := s.v.Count
	most := int64(math.MaxInt64)
	if t.Limit > 0 {
		most = t.Limit
	}
	switch {
	case length == 0:
		return 0, nil
	case t.MaxLen >= 0:
		most = min(most, length-t.MaxLen)
	case t.MinID.Compare(s.First) <= 0:
		return 0, nil
	case t.MinID.Compare(s.top) > 0:
		most = min(most, length)
	default:
		if most, err = s.countBefore(t.MinID, most); err != nil {
			return 0, err
		}
	}
	if most = min(most, length); t.Approx && most < length {
		most = s.wholeNodes(most, cmp.Or(t.Node, TrimNode))
	}
	if most <= 0 {
		return 0, nil
	}
	return most, s.removeFirst(most)
}

// wholeNodes returns how many of the first entries are in nodes that hold nothing else, of most entries. As in
// Redis, every node was full once, so that the first one lacks the entries that are gone.
func (s *Stream) wholeNodes(most, node int64) int64 {
	first := node
	if gone := int64(s.Added) - s.v.Count; gone > 0 {
		first -= gone % node
	}
	if most < first {
		return 0
	}
	return first + (most-first)/node*node
}

// countBefore returns how many entries are before an ID, or a limit if they are more. It goes
// from both ends, so that it is over soon if that is close to one of them.
func (s *Stream) countBefore(id ID, limit int64) (n int64, err error) {
	front, back := s.entries(ID{}, MaxID, false), s.entries(ID{}, MaxID, true)
	close := func(err error) error { return errors.Join(err, front.Close(), back.Close()) }
	for kept := int64(0); n < limit; n, kept = n+1, kept+1 {
		at, ok, err := nextID(front)
		if err != nil {
			return n, close(err)
		}
		if !ok || at.Compare(id) >= 0 {
			break
		}
		if at, ok, err = nextID(back); err != nil {
			return n, close(err)
		}
		if !ok || at.Compare(id) < 0 {
			n = min(s.v.Count-kept, limit)
			break
		}
	}
	return n, close(nil)
}

func nextID(it *store.Elements) (ID, bool, error) {
	if !it.Next() {
		return ID{}, false, nil // Close tells what went wrong
	}
	id, _, err := entryOf(it)
	return id, err == nil, err
}

// removeFirst removes so many entries, no more than there are.
func (s *Stream) removeFirst(n int64) error {
	count := s.v.Count - n
	from := s.First
	first, size := ID{}, s.v.Size-s.beside
	var few []ID
	var err error
	switch {
	case n > fewRemoved && count == 0:
		size = 0
	case n > fewRemoved && count < n:
		// What stays is less than what goes.
		size = 0
		left := count
		err = s.Range(ID{}, MaxID, true, func(id ID, f Fields) bool {
			first = id
			size += f.size
			left--
			return left > 0
		})
	default:
		left := n
		err = s.Range(ID{}, MaxID, false, func(id ID, f Fields) bool {
			if left == 0 {
				first = id
				return false
			}
			if n <= fewRemoved {
				few = append(few, id)
			}
			size -= f.size
			left--
			return left > 0 || count > 0
		})
	}
	if err != nil {
		return err
	}
	switch {
	case n <= fewRemoved:
		for _, id := range few {
			s.unit.RemoveElement(s.key, &s.v, s.entryKey(id))
		}
	case count == 0:
		s.unit.RemoveElements(s.key, &s.v, []byte{kindEntry}, []byte{kindEntry + 1})
	default:
		s.unit.RemoveElements(s.key, &s.v, slices.Clone(s.entryKey(from)), first.append([]byte{kindEntry}))
	}
	s.First = first
	s.putHead(count, size)
	return nil
}
