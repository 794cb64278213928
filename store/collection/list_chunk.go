package collection

import (
	"encoding/binary"
	"errors"

	"github.com/ringside-kv/ringside/store"
)

// A list whose value has Chunks set keeps eight short elements in one entry: Pebble has to sort, flush and compact an
// entry for each of them otherwise, which costs more than all else that a push does.
//
// Elements have the numbers that they have in every list, first + i. The eight numbers from a multiple of eight on
// are a chunk. A chunk that lies in the list with all of its numbers is one entry, under
//
//	'l' | its first number as for an element | 'c'
//
// or, if an element is longer than maxChunked, eight elements under their own sub keys, as in lists without chunks.
// What lies in the list of the first and of the last chunk, unless that is all of it, is an end. It has up to seven
// elements, which are in the header, or under their own sub keys if one of them is or was too long:
//
//	first varint | flags 1 B | length of the front uvarint | front | back
//
// Chunks and ends in the header are entries of a packed collection without their number. Where first and last chunk are
// the same one, the end is the back unless the list reaches the end of the chunk.
const (
	chunkItems = store.ChunkItems
	kindChunk  = 'c'
	// maxChunked is the length in bytes of the longest element in a chunk. So a header has 2 × 7 × 40 B at most. Each
	// push and each pop copies them, logs them and sends them to backups: with chunks of sixteen and elements of up to
	// 127 bytes, pops from many lists of elements of 120 B took three times as long as without chunks.
	maxChunked = 39

	frontLoose = 1 // flags
	backLoose  = 2
	unusedFlag = 4 // may be set, and means nothing
)

// An end is the elements of the first or the last chunk of a list that does not have all of it.
type end struct {
	packed []byte
	loose  bool // the elements have entries of their own
	// spare is where packed ends in List.spare: -1 if nothing can be appended there, 0 if it lies elsewhere, as in the
	// header.
	spare int
}

// chunkOf returns the first number of the chunk that a number is of.
func chunkOf(n int64) int64 { return n &^ (chunkItems - 1) }

// endAt returns the end that a number of the list lies in, and the number of its first element; nil if it lies in a
// chunk that the list has all of.
func (l *List) endAt(n int64) (e *end, from int64) {
	chunk := chunkOf(n)
	switch {
	case chunk+chunkItems > l.last:
		return &l.back, max(chunk, l.first)
	case chunk < l.first:
		return &l.front, l.first
	}
	return nil, chunk
}

// readChunks reads what a header says behind first.
func (l *List) readChunks(b []byte) error {
	l.front, l.back = end{}, end{}
	if len(b) == 0 || b[0] > frontLoose|backLoose|unusedFlag {
		return errList
	}
	front, back, ok := cut(b[1:])
	if !ok {
		return errList
	}
	l.front = end{packed: front, loose: b[0]&frontLoose != 0}
	l.back = end{packed: back, loose: b[0]&backLoose != 0}
	l.spare = l.spare[:0]
	return nil
}

// appendChunks is the opposite of readChunks.
func (l *List) appendChunks(dst []byte) []byte {
	flags := byte(0)
	if l.front.loose {
		flags |= frontLoose
	}
	if l.back.loose {
		flags |= backLoose
	}
	dst = append(binary.AppendUvarint(append(dst, flags), uint64(len(l.front.packed))), l.front.packed...)
	return append(dst, l.back.packed...)
}

// chunkKey makes l.sub the sub key of a chunk, and itemKey that of an element, by number.
func (l *List) chunkKey(chunk int64) []byte {
	l.sub = append(appendNumber(append(l.sub[:0], kindItem), chunk), kindChunk)
	return l.sub
}

func (l *List) itemKey(n int64) []byte {
	l.sub = appendNumber(append(l.sub[:0], kindItem), n)
	return l.sub
}

func appendNumber(dst []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(n)^1<<63)
}

// startChunks makes the list one with chunks, which it was not. What it has stays as it is.
func (l *List) startChunks() {
	if l.before > 0 {
		l.unit.RemoveElements(l.key, &l.v, l.at(nil, -l.before), l.at(nil, 0))
	}
	if l.behind > 0 {
		l.unit.RemoveElements(l.key, &l.v, l.at(nil, l.v.Count), l.at(nil, l.v.Count+l.behind))
	}
	l.before, l.behind = 0, 0
	l.v.Chunks, l.last = true, l.first+l.v.Count
	l.front, l.back = end{}, end{}
	if chunkOf(l.last) < l.last {
		l.back.loose = true
	}
	if e, _ := l.endAt(l.first); e == &l.front {
		l.front.loose = true
	}
}

// packedAt returns where the entry number i of some lies.
func packedAt(all []byte, i int64) (at, to int, ok bool) {
	rest := all
	for ; ; i-- {
		at = len(all) - len(rest)
		if _, rest, ok = cut(rest); !ok || i == 0 {
			return at, len(all) - len(rest), ok
		}
	}
}

// A chunkWriter writes the entries of a list from its first element on, which gets the number 0.
type chunkWriter struct {
	set                  func(sub, value []byte) error
	chunks               bool // the list has chunks
	end                  end  // the elements since the last one
	count, size, entries int64
	sub                  []byte
}

// add writes the next element.
func (w *chunkWriter) add(element []byte) (err error) {
	if from := chunkOf(w.count); !w.end.loose && (!w.chunks || len(element) > maxChunked) {
		for e, rest, ok := cut(w.end.packed); ok && err == nil; e, rest, ok = cut(rest) {
			err = w.item(from, e)
			from++
		}
		w.end = end{packed: w.end.packed[:0], loose: true}
	}
	if w.end.loose {
		err = errors.Join(err, w.item(w.count, element))
	} else {
		w.end.packed = appendEntry(w.end.packed, element, nil, false)
	}
	w.count++
	w.size += int64(len(element))
	if err != nil || w.count != chunkOf(w.count) {
		return err
	}
	if !w.end.loose {
		w.entries++
		err = w.set(append(w.number(w.count-chunkItems), kindChunk), w.end.packed)
	}
	w.end = end{packed: w.end.packed[:0]}
	return err
}

func (w *chunkWriter) item(n int64, element []byte) error {
	w.entries++
	return w.set(w.number(n), element)
}

func (w *chunkWriter) number(n int64) []byte {
	w.sub = appendNumber(append(w.sub[:0], kindItem), n)
	return w.sub
}
