package resp

import (
	"errors"

	"github.com/ringside-kv/ringside/resp/wire"
)

// errNoKeys: the arguments do not say which of them are keys (a count that is no
// number, or larger than the arguments that follow). The command itself, if it
// is run, answers with an error of its own.
var errNoKeys = errors.New("keys: the arguments name none")

// A keyRef is one key of a call: args[pos], found by the command's keys[spec],
// which tells whether the key may be written.
type keyRef struct {
	pos  int
	spec int
}

// keysOf appends the keys of a call to dst, in the order of the command's key
// specifications. The arguments, args[0] the command's name, must satisfy its
// arity. It allocates only if dst has to grow. With an error dst comes back as
// it was.
func (c *command) keysOf(args [][]byte, dst []keyRef) ([]keyRef, error) {
	if c.within != nil {
		return c.within(args, dst)
	}
	before := len(dst)
	for i := range c.keys {
		s := &c.keys[i]
		if s.notKey {
			continue
		}
		first := s.index
		if s.find != nil {
			if first = s.find(args); first == 0 {
				continue
			}
		}
		if first == 0 {
			if first = s.afterKeyword(args); first == 0 {
				if s.unknown {
					return c.noKeys(dst[:before])
				}
				continue // an option that this call does not use
			}
		}
		last := first + s.last
		switch {
		case s.keynum:
			n, ok := s.count(args, first)
			if !ok {
				return c.noKeys(dst[:before])
			}
			first += s.first
			last = first + n - 1
		case s.last < 0 && s.limit > 1:
			last = first + (len(args)-first)/s.limit + s.last
		case s.last < 0:
			last = len(args) + s.last
		}
		if last < first && s.optional {
			continue
		}
		if last < first || last >= len(args) {
			return c.noKeys(dst[:before])
		}
		for pos := first; pos <= last; pos += max(s.step, 1) {
			dst = append(dst, keyRef{pos: pos, spec: i})
		}
	}
	return dst, nil
}

// noKeys ends keysOf early: without an error for EVAL and its like, which need
// no key.
func (c *command) noKeys(dst []keyRef) ([]keyRef, error) {
	if c.flags&flagNoMandatoryKeys != 0 {
		return dst, nil
	}
	return dst, errNoKeys
}

// afterKeyword is the position after the keyword, 0 if there is none. A keyword
// at the very end has nothing after it and does not count.
func (s *keySpec) afterKeyword(args [][]byte) int {
	if s.keyword == "" {
		return 0
	}
	if s.from < 0 {
		for i := len(args) + s.from; i > 0; i-- {
			if wire.EqualFold(args[i], s.keyword) {
				return i + 1
			}
		}
		return 0
	}
	for i := s.from; i < len(args)-1; i++ {
		if wire.EqualFold(args[i], s.keyword) {
			return i + 1
		}
	}
	return 0
}

// count reads the number of keys. None is as wrong as too many.
func (s *keySpec) count(args [][]byte, begin int) (int, bool) {
	if begin+s.numIdx >= len(args) {
		return 0, false
	}
	digits := args[begin+s.numIdx]
	// No count of nine digits fits the arguments of any call, so this cannot
	// overflow. Leading zeros are no number to Redis.
	if len(digits) == 0 || len(digits) > 9 || digits[0] == '0' {
		return 0, false
	}
	n := 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// keyFlags tells what a call does with one of its keys. The flags of the
// specification are the most that the command can do; its options may narrow
// them.
func (c *command) keyFlags(ref keyRef, args [][]byte) string {
	s := &c.keys[ref.spec]
	if s.vary != nil {
		return s.vary(args)
	}
	return s.flags
}
