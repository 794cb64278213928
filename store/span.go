package store

import (
	"math"
	"math/rand/v2"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/counts"
)

// What a node does within the ranges that it serves. Other ranges may lie in the
// store, too: copies of what others serve, or what was left over by a move.
//
// A span is a range that does not wrap: its last token is not below its first.

// ends returns the first and the last token of a span.
func ends(span ring.Range) (first, last ring.Token) { return span.Start, span.End - 1 }

// CursorAt is the cursor at which a scan comes to a token.
func CursorAt(t ring.Token) Cursor { return Cursor(t) << cursorOrderBits }

// Token is the token at which the cursor stands.
func (c Cursor) Token() ring.Token { return ring.Token(c >> cursorOrderBits) }

// Valid tells whether a scan may have returned the cursor.
func (c Cursor) Valid() bool { return c < cursorLimit }

// ScanIn is [Store.Scan] within a span that the cursor lies in. At the end of the
// span the cursor that it returns is that of the next token; at the end of the
// circle it is 0. ended tells that there is no more in the span.
func (sc *scanner) ScanIn(span ring.Range, from Cursor, count int, visit func(Entry) bool) (next Cursor, ended bool, err error) {
	return sc.s.view().scanIn(span, from, count, visit)
}

func (v view) scanIn(span ring.Range, from Cursor, count int, visit func(Entry) bool) (next Cursor, ended bool, err error) {
	end := CursorAt(span.End)
	if from >= cursorLimit || !span.Contains(from.Token()) {
		return 0, false, ErrCursor
	}
	next, err = v.scanUpTo(from, end, count, visit)
	return next, next == end, err
}

// SizeIn estimates the keys and bytes of a span: a slice that the span cuts counts in
// proportion. It reads no key, unlike [Store.RangeLoad].
func (ld *loads) SizeIn(span ring.Range) (keys, size int64) { return ld.SizeOf([]ring.Range{span}) }

// SizeOf is SizeIn of several spans together. Of many it is no less right than of one: what
// is cut is rounded up once.
func (ld *loads) SizeOf(spans []ring.Range) (keys, size int64) {
	var cutKeys, cutSize float64
	for _, span := range spans {
		if span.Start == span.End {
			total := ld.s.counts.Total()
			return total.Keys, total.Bytes
		}
		for part := range cutAtSlices(span) {
			k, b := ld.RangeSize(part.slice, part.last)
			if part.whole {
				keys += k
				size += b
				continue
			}
			tokens := float64(part.end-part.first) + 1
			cutKeys += float64(k) * tokens / (1 << 16)
			cutSize += float64(b) * tokens / (1 << 16)
		}
	}
	return keys + int64(math.Ceil(cutKeys)), size + int64(math.Ceil(cutSize))
}

// A slicePart is a run of whole slices, or a part of one.
type slicePart struct {
	whole       bool
	slice, last uint16
	first, end  ring.Token // both included
}

// cutAtSlices goes over a span: at most a part of a slice, whole slices, and a part.
func cutAtSlices(span ring.Range) func(func(slicePart) bool) {
	return func(yield func(slicePart) bool) {
		first, last := ends(span)
		from, to := uint32(first>>16), uint32(last>>16)
		lead, trail := first&0xffff != 0, last&0xffff != 0xffff
		if from == to {
			yield(slicePart{whole: !lead && !trail, slice: uint16(from), last: uint16(to), first: first, end: last})
			return
		}
		if lead {
			if !yield(slicePart{slice: uint16(from), last: uint16(from), first: first, end: first | 0xffff}) {
				return
			}
			from++
		}
		if trail {
			to--
		}
		if from <= to {
			if !yield(slicePart{whole: true, slice: uint16(from), last: uint16(to), first: ring.Token(from) << 16, end: ring.Token(to)<<16 | 0xffff}) {
				return
			}
		}
		if trail {
			yield(slicePart{slice: uint16(to + 1), last: uint16(to + 1), first: last &^ 0xffff, end: last})
		}
	}
}

// RandomKeyIn returns a stored key of a database that lies in spans, or nil if there is none. A slice
// of tokens is as likely as it has keys; one that a span cuts counts in proportion. Within one of few
// keys, all are equally likely; within others, and among the many keys of one hash tag, about so.
func (sc *scanner) RandomKeyIn(database int, spans []ring.Range) ([]byte, error) {
	v := sc.s.view()
	v.database = database
	return v.randomKeyIn(spans)
}

// keysIn estimates the keys of the view's database in a span.
func (v view) keysIn(span ring.Range) (keys int64) {
	if span == ring.Whole {
		return v.s.counts.TotalOf(v.database).Keys
	}
	for part := range cutAtSlices(span) {
		for slice := int(part.slice); slice <= int(part.last); slice++ {
			keys += v.keysInSlice(part, slice)
		}
	}
	return keys
}

// keysInSlice is keysIn of one slice of a part of a span.
func (v view) keysInSlice(part slicePart, slice int) int64 {
	keys := v.s.counts.InSlice(v.database, uint16(slice)).Keys
	if part.whole || keys == 0 {
		return keys
	}
	return counts.Proportion(keys, int64(part.end-part.first)+1)
}

func (v view) randomKeyIn(spans []ring.Range) ([]byte, error) {
	total := int64(0)
	for _, span := range spans {
		total += v.keysIn(span)
	}
	if total > 0 {
		left := rand.Int64N(total)
		for _, span := range spans {
			if keys := v.keysIn(span); left >= keys {
				left -= keys
				continue
			}
			key, err := v.randomIn(span, left)
			if key != nil || err != nil {
				return key, err
			}
			break
		}
	}
	// The counts know more, or less, than can be seen: whichever comes first.
	for i, from := 0, rand.IntN(max(len(spans), 1)); i < len(spans); i++ {
		first, last := ends(spans[(from+i)%len(spans)])
		key, err := v.keyNear(randomPlace(first, last), Place(first)<<32, Place(last)<<32|(1<<32-1))
		if key != nil || err != nil {
			return key, err
		}
	}
	return nil, nil
}

// randomIn returns a key of the slice in which the key of a number lies.
func (v view) randomIn(span ring.Range, number int64) ([]byte, error) {
	for part := range cutAtSlices(span) {
		for slice := int(part.slice); slice <= int(part.last); slice++ {
			first, last := max(part.first, ring.Token(slice)<<16), min(part.end, ring.Token(slice)<<16|0xffff)
			keys := v.keysInSlice(part, slice)
			if number >= keys {
				number -= keys
				continue
			}
			key, err := v.keyNear(randomPlace(first, last), Place(first)<<32, Place(last)<<32|(1<<32-1))
			if key == nil || err != nil {
				return nil, err
			}
			// Among the many keys of one token, each is as likely as another.
			at := PlaceOf(v.s.token, key) &^ (1<<32 - 1)
			again, err := v.keyNear(at|Place(rand.Uint32()), at, at|(1<<32-1))
			if again == nil { // it has gone meanwhile
				again = key
			}
			return again, err
		}
	}
	return nil, nil
}

// randomPlace is any place from a token's first to another's last.
func randomPlace(first, last ring.Token) Place {
	return Place(first)<<32 + Place(rand.Uint64N(uint64(last-first)+1)<<32) + Place(rand.Uint32())
}
