package command

import (
	"errors"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/resp/wire"
)

// ErrNoKeys reports that the arguments do not say which of them are keys (a count that is no
// number, or larger than the arguments that follow). The command itself, if it
// is run, answers with an error of its own.
var ErrNoKeys = errors.New("keys: the arguments name none")

// A KeyRef is one key of a call: args[pos], found by the command's keys[spec],
// which tells whether the key may be written.
type KeyRef struct {
	Pos  int
	Spec int
}

// KeysOf appends the keys of a call to dst, in the order of the command's key
// specifications. The arguments, args[0] the command's name, must satisfy its
// arity. It allocates only if dst has to grow. With an error dst comes back as
// it was.
func (c *Row) KeysOf(args [][]byte, dst []KeyRef) ([]KeyRef, error) {
	if c.Within != nil {
		return c.Within(args, dst)
	}
	before := len(dst)
	for i := range c.Keys {
		s := &c.Keys[i]
		if s.NotKey {
			continue
		}
		first := s.Index
		if s.Find != nil {
			if first = s.Find(args); first == 0 {
				continue
			}
		}
		if first == 0 {
			if first = s.afterKeyword(args); first == 0 {
				if s.Unknown {
					return c.noKeys(dst[:before])
				}
				continue // an option that this call does not use
			}
		}
		last := first + s.Last
		switch {
		case s.Keynum:
			n, ok := s.count(args, first)
			if !ok {
				return c.noKeys(dst[:before])
			}
			first += s.First
			last = first + (n-1)*max(s.Step, 1)
		case s.Last < 0 && s.Limit > 1:
			last = first + (len(args)-first)/s.Limit + s.Last
		case s.Last < 0:
			last = len(args) + s.Last
		}
		if last < first && s.Optional {
			continue
		}
		if last < first || last >= len(args) {
			return c.noKeys(dst[:before])
		}
		for pos := first; pos <= last; pos += max(s.Step, 1) {
			dst = append(dst, KeyRef{Pos: pos, Spec: i})
		}
	}
	return dst, nil
}

// noKeys ends KeysOf early: without an error for EVAL and its like, which need
// no key.
func (c *Row) noKeys(dst []KeyRef) ([]KeyRef, error) {
	if c.Flags&FlagNoMandatoryKeys != 0 {
		return dst, nil
	}
	return dst, ErrNoKeys
}

// afterKeyword is the position after the keyword, 0 if there is none. A keyword
// at the very end has nothing after it and does not count.
func (s *KeySpec) afterKeyword(args [][]byte) int {
	if s.Keyword == "" {
		return 0
	}
	if s.From < 0 {
		for i := len(args) + s.From; i > 0; i-- {
			if wire.EqualFold(args[i], s.Keyword) {
				return i + 1
			}
		}
		return 0
	}
	for i := s.From; i < len(args)-1; i++ {
		if wire.EqualFold(args[i], s.Keyword) {
			return i + 1
		}
	}
	return 0
}

// count reads the number of keys. None is as wrong as too many.
func (s *KeySpec) count(args [][]byte, begin int) (int, bool) {
	if begin+s.NumIdx >= len(args) {
		return 0, false
	}
	digits := args[begin+s.NumIdx]
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

// KeyFlags tells what a call does with one of its keys. The flags of the
// specification are the most that the command can do; its options may narrow
// them.
func (c *Row) KeyFlags(ref KeyRef, args [][]byte) string {
	s := &c.Keys[ref.Spec]
	if s.Vary != nil {
		return s.Vary(args)
	}
	return strings.TrimSuffix(s.Flags, " incomplete") // which is said of the specification
}

// FirstWritten returns the number of the word with the first stored key that a request writes, or else with its
// first key; 0 if it has none. Keys that do not begin at an index do not count.
func (c *Row) FirstWritten(args [][]byte) int {
	if len(c.Keys) == 0 {
		return 0
	}
	spec := &c.Keys[max(slices.IndexFunc(c.Keys, func(k KeySpec) bool { return k.Write && k.Index > 0 }), 0)]
	at := spec.Index
	if spec.Keynum {
		at += spec.First
	}
	if spec.Index <= 0 || at >= len(args) || spec.Keynum && string(args[spec.Index+spec.NumIdx]) == "0" {
		return 0
	}
	return at
}
