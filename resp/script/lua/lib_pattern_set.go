package lua

import "strings"

// A charSet has a bit for each byte.
type charSet [8]uint32

func (s *charSet) has(c byte) bool { return s[c>>5]>>(c&31)&1 != 0 }
func (s *charSet) add(c byte)      { s[c>>5] |= 1 << (c & 31) }

// set returns the set in brackets between p and end.
func (m *matcher) set(p, end int) *charSet {
	for i, at := range m.setAt {
		if at == p+1 {
			return &m.sets[i]
		}
	}
	i := m.oldest & 3
	m.oldest++
	m.setAt[i] = p + 1
	s := &m.sets[i]
	*s = charSet{}
	end--
	p++
	negated := m.pat[p] == '^'
	if negated {
		p++
	}
	m.work(8 * (end - p))
	for ; p < end; p++ {
		switch c := m.pat[p]; {
		case c == '%':
			p++
			for i := range 256 {
				if isClass(byte(i), m.pat[p]) {
					s.add(byte(i))
				}
			}
		case p+2 < end && m.pat[p+1] == '-':
			p += 2
			for i := int(c); i <= int(m.pat[p]); i++ {
				s.add(byte(i))
			}
		default:
			s.add(c)
		}
	}
	if negated {
		for i := range s {
			s[i] = ^s[i]
		}
	}
	return s
}

// The classes of bytes, as C's in the locale "C".
const (
	classAlpha = 1 << iota
	classControl
	classDigit
	classLower
	classPunct
	classSpace
	classUpper
	classHex
	classZero
)

var classes = func() (all [256]uint16) {
	for i := range 128 {
		c := byte(i)
		var k uint16
		switch {
		case c >= 'a' && c <= 'z':
			k = classAlpha | classLower
		case c >= 'A' && c <= 'Z':
			k = classAlpha | classUpper
		case c >= '0' && c <= '9':
			k = classDigit | classHex
		case c < ' ' || c == 127:
			k = classControl
		case c > ' ':
			k = classPunct
		}
		if strings.IndexByte(spaces, c) >= 0 {
			k |= classSpace
		}
		if c|0x20 >= 'a' && c|0x20 <= 'f' && k&classAlpha != 0 {
			k |= classHex
		}
		all[i] = k
	}
	all[0] |= classZero
	return all
}()

// classLetters are the classes that lower case letters behind % stand for.
var classLetters = [256]uint16{
	'a': classAlpha, 'c': classControl, 'd': classDigit, 'l': classLower, 'p': classPunct, 's': classSpace,
	'u': classUpper, 'w': classAlpha | classDigit, 'x': classHex, 'z': classZero,
}

// classOf returns the classes that a letter behind % stands for, and whether a byte must be in
// one of them or in none. mask is 0 if the letter stands for itself.
func classOf(letter byte) (mask uint16, wanted bool) {
	return classLetters[letter|0x20], letter&0x20 != 0
}

func isClass(c, letter byte) bool {
	mask, wanted := classOf(letter)
	if mask == 0 {
		return c == letter
	}
	return (classes[c]&mask != 0) == wanted
}
