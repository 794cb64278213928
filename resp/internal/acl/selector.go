package acl

import (
	"maps"
	"slices"
	"strings"
)

// A selector is a set of commands with the keys and channels that they may be about. A user has one or more:
// a call is allowed if one of them allows all of it.
type selector struct {
	commands bitmap
	// future says that the set began with all commands, so that those of a later version are in it. rules are
	// those about commands and categories since, in lower case; a later one about the same replaces an earlier one.
	future   bool
	rules    []string
	first    map[int][]string // by ID, the first arguments with which a command outside of the set is allowed
	allKeys  bool
	keys     []keyPattern
	anywhere bool // all channels
	channels []string
}

type keyPattern struct {
	pattern
	access access
}

// allCommands reports whether there is nothing to check about commands.
func (s *selector) allCommands(c *Catalog) bool { return s.future && s.commands.equal(c.every) }

func newSelector(c *Catalog, anywhere bool) *selector {
	return &selector{commands: newBitmap(len(c.table.All)), anywhere: anywhere}
}

func (s *selector) clone() *selector {
	next := *s
	next.commands, next.keys, next.channels = s.commands.clone(), slices.Clone(s.keys), slices.Clone(s.channels)
	next.first, next.rules = maps.Clone(s.first), slices.Clone(s.rules)
	return &next
}

// apply changes a selector by one rule.
func (s *selector) apply(c *Catalog, rule string) error {
	switch {
	case strings.EqualFold(rule, "allkeys"), rule == "~*":
		s.allKeys, s.keys = true, nil
	case strings.EqualFold(rule, "resetkeys"):
		s.allKeys, s.keys = false, nil
	case strings.EqualFold(rule, "allchannels"), rule == "&*":
		s.anywhere, s.channels = true, nil
	case strings.EqualFold(rule, "resetchannels"):
		s.anywhere, s.channels = false, nil
	case strings.EqualFold(rule, "allcommands"), strings.EqualFold(rule, "+@all"):
		s.commands, s.future, s.first, s.rules = c.every.clone(), true, nil, nil
	case strings.EqualFold(rule, "nocommands"), strings.EqualFold(rule, "-@all"):
		s.commands, s.future, s.first, s.rules = newBitmap(len(c.table.All)), false, nil, nil
	case rule[0] == '~' || rule[0] == '%':
		return s.addKeys(rule)
	case rule[0] == '&':
		return s.addChannels(rule[1:])
	case strings.HasPrefix(rule, "+@"), strings.HasPrefix(rule, "-@"):
		return s.setCategory(c, rule[2:], rule[0] == '+')
	case rule[0] == '+' || rule[0] == '-':
		return s.setCommand(c, rule[1:], rule[0] == '+')
	default:
		return errSyntax
	}
	return nil
}

func (s *selector) addKeys(rule string) error {
	if s.allKeys {
		return errAllKeys
	}
	a, at := reads|writes, 1
	if rule[0] == '%' {
		a = 0
		at = strings.IndexByte(rule, '~') + 1
		for i := 1; i < at-1; i++ {
			flag := map[byte]access{'r': reads, 'w': writes}[rule[i]|0x20]
			if flag == 0 || a&flag != 0 {
				return errSyntax
			}
			a |= flag
		}
	}
	if a == 0 || at == 0 || hasSpace(rule[at:]) {
		return errSyntax
	}
	text := rule[at:]
	for i := range s.keys {
		if s.keys[i].text == text {
			s.keys[i].access |= a
			return nil
		}
	}
	s.keys = append(s.keys, keyPattern{newPattern(text), a})
	return nil
}

func (s *selector) addChannels(pattern string) error {
	switch {
	case s.anywhere:
		return errAllChannels
	case hasSpace(pattern):
		return errSyntax
	}
	if !slices.Contains(s.channels, pattern) {
		s.channels = append(s.channels, pattern)
	}
	return nil
}

func (s *selector) setCategory(c *Catalog, name string, allow bool) error {
	k := c.category(name)
	if k == nil {
		return errUnknown
	}
	s.commands.set(k.reach, allow)
	for id := range s.first {
		if k.members.has(id) {
			delete(s.first, id)
		}
	}
	s.keepRule("@"+name, allow)
	return nil
}

// keepRule notes a rule about a command or a category. It replaces one about the same, and those about subcommands
// or first arguments of the command: what they have set, this one sets.
func (s *selector) keepRule(name string, allow bool) {
	name = strings.ToLower(name)
	s.rules = slices.DeleteFunc(s.rules, func(rule string) bool {
		return rule[1:] == name || strings.HasPrefix(rule[1:], name+"|")
	})
	s.rules = append(s.rules, map[bool]string{true: "+", false: "-"}[allow]+name)
}

// setCommand allows or forbids a command or a subcommand, or allows a command with one first argument.
func (s *selector) setCommand(c *Catalog, name string, allow bool) error {
	row := c.table.Named([]byte(name))
	if at := strings.LastIndexByte(name, '|'); allow && at >= 0 {
		parent := c.table.Named([]byte(name[:at]))
		switch {
		case parent == nil:
			return errUnknown
		case parent.Parent != nil:
			return errFirstOfSub
		case at == len(name)-1 || hasSpace(name[at:]):
			return errSyntax
		case len(parent.Subs) == 0:
			s.allowFirst(parent.ID, name[at+1:])
			s.keepRule(name, true)
			return nil
		}
	}
	if row == nil {
		return errUnknown
	}
	s.commands.set(c.reach[row.ID], allow)
	delete(s.first, row.ID)
	s.keepRule(name, allow)
	return nil
}

func (s *selector) allowFirst(id int, arg string) {
	known := s.first[id]
	if slices.ContainsFunc(known, func(other string) bool { return strings.EqualFold(other, arg) }) {
		return
	}
	if s.first == nil {
		s.first = make(map[int][]string)
	}
	s.first[id] = append(slices.Clip(known), arg)
}

// hasSpace reports whether a text has white space or zero bytes, which names and patterns must not have.
func hasSpace(text string) bool { return strings.ContainsAny(text, " \t\n\v\f\r\x00") }
