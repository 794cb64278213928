package rdb

import (
	"math"
	"sync"
)

// LZF data is a row of tokens:
//
//	000LLLLL                      L+1 literal bytes follow
//	LLLooooo oooooooo             L+2 bytes from o+1 bytes back, L in 1..6
//	111ooooo LLLLLLLL oooooooo    L+9 bytes from o+1 bytes back
//
// Copies may overlap their own beginning, which is how runs are stored.
const (
	lzfMaxLit = 1 << 5
	lzfMaxOff = 1 << 13
	lzfMaxRef = 1<<8 + 1<<3
	lzfLong   = 7 // the L that says that a byte with the rest of it follows

	lzfSlots = 1 << 16
)

// lzfTable remembers for the hash of three bytes where they were last seen.
// It is used again without being cleared: a slot holds base + position, and what
// is below base is of an earlier input.
type lzfTable struct {
	base uint32 // of this input; always at least 1
	next uint32 // first number not yet used
	slot [lzfSlots]uint32
}

var lzfTables = sync.Pool{New: func() any { return &lzfTable{next: 1} }}

// begin makes the table empty for an input of n bytes.
func (t *lzfTable) begin(n int) {
	if uint64(n) > uint64(math.MaxUint32-t.next) {
		clear(t.slot[:])
		t.next = 1
	}
	t.base = t.next
	t.next += uint32(n)
}

// swap enters position pos under the hash of its three bytes, and returns the
// position that was there before.
func (t *lzfTable) swap(src []byte, pos int) (int, bool) {
	p := src[pos : pos+3 : pos+3]
	h := uint32(p[0])<<16 | uint32(p[1])<<8 | uint32(p[2])
	s := &t.slot[(h>>8-h*5)%lzfSlots]
	old := *s
	*s = t.base + uint32(pos)
	return int(old) - int(t.base), old >= t.base
}

// lzfAppend appends src compressed to dst, or reports false when that takes more
// than limit bytes.
//
// It makes the choices that liblzf 3.6 makes as Redis builds it (a table of 2¹⁶,
// the "very fast" way of entering matches), with which the result is the same:
// the first earlier place that the table gives is taken, never one at the very
// beginning, and of a match only the last two positions are entered. liblzf
// works on a table that it does not clear, in which another value's positions can
// by chance be those of equal bytes in this one; then, and only then, Redis finds
// a match that is not found here.
func lzfAppend(dst, src []byte, limit int) ([]byte, bool) {
	if len(src) < 3 || limit <= 0 || uint64(len(src)) >= math.MaxUint32 {
		return dst, false
	}
	t := lzfTables.Get().(*lzfTable)
	defer lzfTables.Put(t)
	t.begin(len(src))

	start := len(dst)
	lit := 0 // literals waiting before pos
	pos := 0
	for pos < len(src)-2 {
		ref, ok := t.swap(src, pos)
		if ok && lzfMatches(src, ref, pos) {
			// Room for the run and the longest token.
			if len(dst)-start+lzfRun(lit)+4 >= limit {
				return dst[:start], false
			}
			dst = lzfLiterals(dst, src[pos-lit:pos])
			lit = 0
			n := lzfMatchLen(src, ref, pos)
			dst = lzfCopy(dst, pos-ref, n)
			pos += n
			if pos >= len(src)-2 {
				break
			}
			t.swap(src, pos-2)
			t.swap(src, pos-1)
			continue
		}
		if len(dst)-start+1+lit >= limit {
			return dst[:start], false
		}
		pos++
		if lit++; lit == lzfMaxLit {
			dst = lzfLiterals(dst, src[pos-lit:pos])
			lit = 0
		}
	}

	// The last bytes, fewer than a match has.
	if len(dst)-start+1+lit+3 > limit {
		return dst[:start], false
	}
	for lit += len(src) - pos; lit > 0; {
		n := min(lit, lzfMaxLit)
		dst = lzfLiterals(dst, src[len(src)-lit:len(src)-lit+n])
		lit -= n
	}
	return dst, true
}

// lzfMatches reports whether a match at pos may refer to ref.
func lzfMatches(src []byte, ref, pos int) bool {
	return ref > 0 && pos-ref <= lzfMaxOff &&
		src[ref] == src[pos] && src[ref+1] == src[pos+1] && src[ref+2] == src[pos+2]
}

// lzfMatchLen is the length of the match. liblzf stops short of the end of the
// input where that saves it comparisons, by how much depends on what is left.
func lzfMatchLen(src []byte, ref, pos int) int {
	limit := min(len(src)-pos-2, lzfMaxRef)
	if limit > 16 {
		limit = max(limit, 19)
	}
	n := 3
	for n < limit && src[ref+n] == src[pos+n] {
		n++
	}
	return n
}

// lzfRun is the size of n literals (up to lzfMaxLit) with their token.
func lzfRun(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + n
}

func lzfLiterals(dst, p []byte) []byte {
	if len(p) == 0 {
		return dst
	}
	return append(append(dst, byte(len(p)-1)), p...)
}

func lzfCopy(dst []byte, dist, n int) []byte {
	off, l := dist-1, n-2
	if l < lzfLong {
		return append(dst, byte(l<<5|off>>8), byte(off))
	}
	return append(dst, byte(lzfLong<<5|off>>8), byte(l-lzfLong), byte(off))
}

// A lzfToken is one step of decompression: either a run of literals, or n bytes
// from dist bytes back.
type lzfToken struct {
	lit  []byte
	dist int
	n    int
}

// lzfNext reads a token from p, which must not be empty, and returns what follows
// it. It fails when p ends within the token.
func lzfNext(p []byte) (tok lzfToken, rest []byte, ok bool) {
	c := int(p[0])
	p = p[1:]
	if c < lzfMaxLit {
		if len(p) <= c {
			return tok, nil, false
		}
		return lzfToken{lit: p[:c+1], n: c + 1}, p[c+1:], true
	}
	l := c >> 5
	if l == lzfLong {
		if len(p) == 0 {
			return tok, nil, false
		}
		l += int(p[0])
		p = p[1:]
	}
	if len(p) == 0 {
		return tok, nil, false
	}
	dist := (c&(1<<5-1))<<8 | int(p[0])
	return lzfToken{dist: dist + 1, n: l + 2}, p[1:], true
}

// lzfLen is the length that p expands to; false if p ends within a token.
func lzfLen(p []byte) (n uint64, ok bool) {
	for len(p) > 0 {
		var tok lzfToken
		if tok, p, ok = lzfNext(p); !ok {
			return 0, false
		}
		n += uint64(tok.n)
	}
	return n, true
}

// lzfExpand appends to dst, which must be empty, what p holds; false if p ends
// within a token or refers to before its beginning.
func lzfExpand(dst, p []byte) ([]byte, bool) {
	for len(p) > 0 {
		tok, rest, ok := lzfNext(p)
		if !ok || tok.dist > len(dst) {
			return nil, false
		}
		p = rest
		if tok.dist == 0 {
			dst = append(dst, tok.lit...)
			continue
		}
		// What has been copied repeats itself from the same beginning on, so
		// each round may take twice as much.
		for from, n := len(dst)-tok.dist, tok.n; n > 0; {
			chunk := dst[from:min(len(dst), from+n)]
			dst = append(dst, chunk...)
			n -= len(chunk)
		}
	}
	return dst, true
}
