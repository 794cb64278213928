package acl

import (
	"strings"
)

// Flags returns the names of the user's flags, as ACL GETUSER lists them.
func (u *User) Flags() []string {
	flags := []string{"off"}
	if u.enabled {
		flags[0] = "on"
	}
	if u.anyone {
		flags = append(flags, "nopass")
	}
	switch u.sanitize {
	case sanitizeSkip:
		flags = append(flags, "skip-sanitize-payload")
	case sanitizeAlways:
		flags = append(flags, "sanitize-payload")
	case sanitizeUnsaid:
	}
	return flags
}

// Passwords returns the SHA-256 of the user's passwords, in hexadecimal digits.
func (u *User) Passwords() []string { return u.passwords }

// A Description is what a selector allows, as rules.
type Description struct{ Commands, Keys, Channels string }

// Selectors describes what the user may do; first its rules outside of selectors.
func (u *User) Selectors() []Description {
	all := make([]Description, len(u.selectors))
	for i, s := range u.selectors {
		all[i] = Description{s.commandRules(u.catalog), s.keyRules(), s.channelRules()}
	}
	return all
}

func (u *User) describe() string {
	var b strings.Builder
	for _, flag := range u.Flags() {
		b.WriteString(flag)
		b.WriteByte(' ')
	}
	for _, sum := range u.passwords {
		b.WriteByte('#')
		b.WriteString(sum)
		b.WriteByte(' ')
	}
	for i, s := range u.selectors {
		if i > 0 {
			b.WriteString(" (")
		}
		s.describe(&b, u.catalog)
		if i > 0 {
			b.WriteByte(')')
		}
	}
	return b.String()
}

func (s *selector) describe(b *strings.Builder, c *Catalog) {
	if keys := s.keyRules(); keys != "" {
		b.WriteString(keys)
		b.WriteByte(' ')
	}
	if !s.anywhere {
		b.WriteString("resetchannels ")
	}
	if channels := s.channelRules(); channels != "" {
		b.WriteString(channels)
		b.WriteByte(' ')
	}
	b.WriteString(s.commandRules(c))
}

func (s *selector) keyRules() string {
	if s.allKeys {
		return "~*"
	}
	var b strings.Builder
	for i := range s.keys {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString([...]string{reads: "%R~", writes: "%W~", reads | writes: "~"}[s.keys[i].access])
		b.WriteString(s.keys[i].text)
	}
	return b.String()
}

func (s *selector) channelRules() string {
	switch {
	case s.anywhere:
		return "&*"
	case len(s.channels) == 0:
		return ""
	}
	return "&" + strings.Join(s.channels, " &")
}

// commandRules returns rules that make an empty set of commands this one: all commands or none, then the
// categories that come nearest, one after the other, then single commands. So does Redis, and for the same
// sets it finds the same categories.
func (s *selector) commandRules(c *Catalog) string {
	var b strings.Builder
	made, left := newBitmap(len(c.table.All)), s.commands.clone()
	sign := "+"
	if s.future {
		sign = "-"
		made = c.every.clone()
		b.WriteString("+@all")
	} else {
		b.WriteString("-@all")
	}
	used := make([]bool, len(c.categories))
	for {
		best, fewest, most := -1, 0, 0
		for i := range c.categories {
			if used[i] {
				continue
			}
			k := &c.categories[i]
			same := left.common(k.members)
			if s.future {
				same = k.size - same
			}
			other := k.size - same
			if same > other && (best < 0 || other < fewest || other == fewest && same > most) {
				best, fewest, most = i, other, same
			}
		}
		if best < 0 {
			break
		}
		k := &c.categories[best]
		made.set(k.reach, !s.future)
		left.set(k.reach, s.future)
		used[best] = true
		b.WriteString(" " + sign + "@" + k.name)
	}
	s.writeSingle(&b, c, made)
	return b.String()
}

// writeSingle writes the commands in which the set still differs from what the rules have made.
func (s *selector) writeSingle(b *strings.Builder, c *Catalog, made bitmap) {
	for _, row := range c.table.All {
		allowed := s.commands.has(row.ID)
		if allowed != made.has(row.ID) {
			b.WriteString(" " + map[bool]string{true: "+", false: "-"}[allowed] + row.Full)
			made.set(c.reach[row.ID], allowed)
		}
		if allowed {
			continue
		}
		for _, arg := range s.first[row.ID] {
			b.WriteString(" +" + row.Full + "|" + arg)
		}
	}
}
