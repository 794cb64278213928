package acl

import (
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/glob"
)

// AllowsChannel reports whether one of some patterns allows a channel, or, literally, a pattern of channels.
func AllowsChannel(patterns []string, channel []byte, isPattern bool) bool {
	for _, p := range patterns {
		if isPattern && p == string(channel) || !isPattern && glob.Match([]byte(p), channel, false) {
			return true
		}
	}
	return false
}

// MayHear reports whether the user may be subscribed to channels, or to patterns of them.
func (u *User) MayHear(names []string, pattern bool) bool {
	patterns, everything := u.Channels()
	return everything || !slices.ContainsFunc(names, func(name string) bool { return !AllowsChannel(patterns, []byte(name), pattern) })
}

// Channels returns the patterns of channels that any selector of the user has; everything reports that one has
// all channels.
func (u *User) Channels() (patterns []string, everything bool) {
	for _, s := range u.selectors {
		everything = everything || s.anywhere
		patterns = append(patterns, s.channels...)
	}
	return patterns, everything
}
