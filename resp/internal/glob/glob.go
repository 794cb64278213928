package glob

import "github.com/ringside-kv/ringside/resp/wire"

// Match reports whether s as a whole matches the pattern, by the rules of
// Redis' stringmatchlen, byte by byte:
//
//	?        one byte
//	*        any number of bytes, also none
//	[a-z_]   one of these bytes
//	[^a-z_]  one byte that is none of these
//	\x       x itself, also within [ ]
//
// A [ without a ] extends to the end of the pattern. With fold, ASCII letters match
// in either case, except after \ within [ ].
//
// There are two differences from Redis. The empty string matches a pattern of stars;
// Redis has a special case for the pattern "*" where it matters (KEYS, SCAN). The
// bytes of a range are unsigned; in Redis this depends on the machine.
//
// The time is at most the product of the two lengths. If the pattern after a star does
// not match, another match of an earlier star cannot help. So only the last star is
// retried.
func Match(pattern, s []byte, fold bool) bool {
	p, i := 0, 0
	star, retry := -1, 0 // position after the last star; first byte of s that it has not consumed
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, retry = p, i
			if p == len(pattern) {
				return true
			}
			continue
		}
		if p < len(pattern) {
			next, ok := globOne(pattern, p, s[i], fold)
			if ok {
				p = next
				i++
				continue
			}
		}
		if star < 0 {
			return false
		}
		retry++
		p, i = star, retry
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// globOne matches c with the element of the pattern at p, which is no star, and
// tells where the next element begins.
func globOne(pattern []byte, p int, c byte, fold bool) (next int, ok bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return globClass(pattern, p+1, c, fold)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, sameByte(pattern[p], c, fold)
}

// globClass matches c with the class whose [ is before p.
func globClass(pattern []byte, p int, c byte, fold bool) (next int, ok bool) {
	not := p < len(pattern) && pattern[p] == '^'
	if not {
		p++
	}
	in := false
	for p < len(pattern) && pattern[p] != ']' {
		switch left := len(pattern) - p; {
		case left >= 2 && pattern[p] == '\\':
			in = in || pattern[p+1] == c
			p += 2
		case left >= 3 && pattern[p+1] == '-':
			from, to, x := pattern[p], pattern[p+2], c
			if from > to {
				from, to = to, from
			}
			if fold {
				from, to, x = wire.Lower(from), wire.Lower(to), wire.Lower(x)
			}
			in = in || from <= x && x <= to
			p += 3
		default:
			in = in || sameByte(pattern[p], c, fold)
			p++
		}
	}
	return min(p+1, len(pattern)), in != not
}

// sameByte compares two bytes, with fold without regard to case.
func sameByte(a, b byte, fold bool) bool {
	return a == b || fold && wire.Lower(a) == wire.Lower(b)
}
