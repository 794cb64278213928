package relay

import (
	"encoding/binary"
	"errors"
)

// An Invalidation tells a node with tracking clients of a key that has changed.
type Invalidation struct {
	Author int64  // which of its clients has written, if that one is not to be told; else 0
	Key    []byte // nil: all keys
}

// AppendInvalidations encodes invalidations, numbered from first on: that number, then for each one
// its author and 1 + the length of its key, 0 for all keys, and the key.
func AppendInvalidations(b []byte, first uint64, items []Invalidation) []byte {
	b = binary.AppendUvarint(b, first)
	for _, item := range items {
		b = binary.AppendUvarint(b, uint64(item.Author))
		if item.Key == nil {
			b = append(b, 0)
			continue
		}
		b = binary.AppendUvarint(b, 1+uint64(len(item.Key)))
		b = append(b, item.Key...)
	}
	return b
}

// ErrInvalidations says that invalidations cannot be read.
var ErrInvalidations = errors.New("keys that have changed cannot be read")

// ParseInvalidations reads what AppendInvalidations has written. The keys lie in b.
func ParseInvalidations(b []byte) (first uint64, items []Invalidation, err error) {
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			b, err = nil, ErrInvalidations
			return 0
		}
		b = b[n:]
		return v
	}
	for first = next(); len(b) > 0; {
		item := Invalidation{Author: int64(next())}
		size := next()
		if err != nil || size > uint64(len(b))+1 {
			return 0, nil, ErrInvalidations
		}
		if size > 0 {
			item.Key, b = b[:size-1:size-1], b[size-1:]
		}
		items = append(items, item)
	}
	return first, items, err
}
