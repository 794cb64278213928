package acl

import (
	"bytes"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/glob"
)

// A pattern is a glob pattern, of which the usual forms are compared without the general matcher.
type pattern struct {
	text   string
	glob   []byte // the text; nil if it is literal and one star at most, at its end
	prefix []byte
	open   bool // anything may follow the prefix
}

func newPattern(text string) pattern {
	p := pattern{text: text}
	literal := strings.TrimSuffix(text, "*")
	if strings.ContainsAny(literal, `*?[\`) {
		p.glob = []byte(text)
		return p
	}
	p.prefix, p.open = []byte(literal), literal != text
	return p
}

// matches takes a time of at most the product of both lengths.
func (p *pattern) matches(s []byte) bool {
	switch {
	case p.glob != nil:
		return glob.Match(p.glob, s, false)
	case p.open:
		return bytes.HasPrefix(s, p.prefix)
	}
	return bytes.Equal(s, p.prefix)
}
