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
	if u.skipsSanitizing {
		return append(flags, "skip-sanitize-payload")
	}
	return append(flags, "sanitize-payload")
}

// Passwords returns the SHA-256 of the user's passwords, in hexadecimal digits.
func (u *User) Passwords() []string { return u.passwords }

// A Description is what a selector allows, as rules.
type Description struct{ Commands, Keys, Channels string }

// Selectors describes what the user may do; first its rules outside of selectors.
func (u *User) Selectors() []Description {
	all := make([]Description, len(u.selectors))
	for i, s := range u.selectors {
		all[i] = Description{s.commandRules(), s.keyRules(), s.channelRules()}
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
		s.describe(&b)
		if i > 0 {
			b.WriteByte(')')
		}
	}
	return b.String()
}

func (s *selector) describe(b *strings.Builder) {
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
	b.WriteString(s.commandRules())
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

// commandRules returns what makes an empty set of commands this one: all commands or none, then the rules as they
// were given, as Redis has it since 7.2.
func (s *selector) commandRules() string {
	first := "-@all"
	if s.future {
		first = "+@all"
	}
	return strings.Join(append([]string{first}, s.rules...), " ")
}
