package lists

import (
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// The form of a list that OBJECT ENCODING names. Redis has two: a listpack up to list-max-listpack-size, a quicklist
// above. It compares with that before it adds elements, and makes a quicklist a listpack again once half of the limit
// is enough.
//
// [store.Value.Raw] marks a list as a quicklist. What a listpack would take follows from the number and the size of
// the elements, but for integers, which it keeps as numbers. No write reads elements for that: a list of which the
// bounds leave the form open is not marked, and OBJECT ENCODING counts its bytes.

// Of a listpack.
const (
	frameSize = 7
	// safeSize is the limit in bytes if list-max-listpack-size is a number of elements.
	safeSize = 8 << 10
	leastEnd = 4 << 10 // the limit in bytes of -1, which each further number doubles
	mostEnd  = 4       // doubled so often at most
)

// limits returns how many bytes and elements a listpack may have, and how many if a list has shrunk.
func limits(x *command.Call, shrunk bool) (size, count int64) {
	n := x.Limits.Encodings.ListSize.Load()
	if n >= 0 {
		if n = max(n, 1); shrunk {
			n /= 2
		}
		return safeSize, n
	}
	if size = leastEnd << min(-1-n, mostEnd); shrunk {
		size /= 2
	}
	return size, math.MaxInt64
}

// listpackSize returns bounds of the size of a list of n elements as a listpack. size is that of the elements, and of
// what else the entry holds if the list is whole.
func listpackSize(n, size int64, whole bool) (least, most int64) {
	text := size
	if whole { // with the number of elements, and a length before each
		size, text = max(size-n-1, 0), max(size-6*(n+1), 0)
	}
	// A string has 2 bytes beside its own, 4 from 64 bytes on, 10 from 4,096 on.
	most = frameSize + size + 2*n + 2*min(n, size/64) + 6*min(n, size/4096)
	// An integer takes at least half of its text, and at most 10 bytes less than that.
	least = frameSize + max(2*n, text/2, text-10*n)
	return least, most
}

// fits reports whether a listpack within limits has room for the list and for elements that are added. It is not
// known of all lists.
func fits(x *command.Call, l *collection.List, added [][]byte, shrunk bool) (fits, known bool) {
	size, count := limits(x, shrunk)
	least, most := listpackSize(l.Len(), l.Value().Size, l.Value().Whole())
	for _, element := range added {
		size -= int64(len(element))
	}
	switch {
	case l.Len()+int64(len(added)) > count || least > size:
		return false, true
	case most <= size:
		return true, true
	}
	return false, false
}

// IsLargeWith reports whether the list is a quicklist once elements are added.
func IsLargeWith(x *command.Call, l *collection.List, added ...[]byte) bool {
	small, known := fits(x, l, added, false)
	return l.Value().Raw || known && !small
}

// isLargeShrunk reports whether a list from which elements were removed is still a quicklist, which it was.
func isLargeShrunk(x *command.Call, l *collection.List) bool {
	small, known := fits(x, l, nil, true)
	return !known || !small
}

// shrunk notes the form of a list from which elements were removed.
func shrunk(x *command.Call, l *collection.List) {
	if l.Value().Raw {
		l.SetLarge(isLargeShrunk(x, l))
	}
}

// Encoding returns the name of the form of the list at a key, which is v. It has replied, and returns "", if the list
// cannot be read.
func Encoding(x *command.Call, key []byte, v store.Value) string {
	const small, large = "listpack", "quicklist"
	if v.Raw {
		return large
	}
	l := &x.List
	if v.Whole() {
		l.Over(x.Unit, key, v)
	} else if !OpenWholeList(x, l, key) {
		return ""
	}
	switch fit, known := fits(x, l, nil, false); {
	case known && fit:
		return small
	case known:
		return large
	}
	limit, _ := limits(x, false)
	size, last := int64(frameSize), int64(0)
	err := l.Range(0, math.MaxInt64, false, func(_ int64, element []byte) bool {
		entry := entrySize(element)
		size, last = size+entry, entry-int64(len(element))
		return size <= 2*limit
	})
	if err != nil {
		x.Fail(err)
		return ""
	}
	if size-last > limit { // Redis has compared with the text of the last one
		return large
	}
	return small
}

// entrySize is how many bytes an element takes in a listpack.
func entrySize(element []byte) int64 {
	size := int64(len(element))
	if n, ok := wire.ParseInt(element); ok {
		switch {
		case n >= 0 && n < 1<<7:
			size = 1
		case n >= -1<<12 && n < 1<<12:
			size = 2
		case n >= math.MinInt16 && n <= math.MaxInt16:
			size = 3
		case n >= -1<<23 && n < 1<<23:
			size = 4
		case n >= math.MinInt32 && n <= math.MaxInt32:
			size = 5
		default:
			size = 9
		}
		return size + 1
	}
	switch {
	case size < 1<<6:
		size++
	case size < 1<<12:
		size += 2
	default:
		size += 5
	}
	behind := int64(1) // the length follows, 7 bits a byte
	for _, most := range [...]int64{1<<7 - 1, 1<<14 - 2, 1<<21 - 2, 1<<28 - 2} {
		if size > most {
			behind++
		}
	}
	return size + behind
}
