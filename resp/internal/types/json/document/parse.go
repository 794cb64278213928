package document

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrUTF8 says that a text is not UTF-8.
var ErrUTF8 = errors.New("the JSON text is not UTF-8")

// A SyntaxError says where a text is not JSON, and why.
type SyntaxError struct {
	Reason       string
	Line, Column int
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at line %d column %d", e.Reason, e.Line, e.Column)
}

// Parse reads a JSON text. grow is asked for the memory that the tree takes, unless it is nil. The errors are
// [SyntaxError], also for a text that is too deep, [ErrUTF8] and [ErrMemory].
func Parse(text []byte, grow func(bytes int64) bool) (*Value, error) {
	if grow != nil && !grow(int64(len(text))) {
		return nil, ErrMemory
	}
	if !utf8.Valid(text) {
		return nil, ErrUTF8
	}
	p := parser{text: string(text), grow: grow}
	v := p.node()
	if v != nil {
		p.value(v)
		p.space()
		if p.err == nil && p.pos < len(p.text) {
			p.failAt(p.pos+1, "trailing characters")
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	return v, nil
}

// A parser reads one text. After an error it reads nothing more.
type parser struct {
	text  string
	pos   int
	depth int
	grow  func(bytes int64) bool
	slab  []Value // nodes to come
	err   error
}

const (
	firstSlab = 4
	maxSlab   = 256
)

// node returns a new node, or nil if there is no memory for it.
func (p *parser) node() *Value {
	if len(p.slab) == 0 {
		n := firstSlab
		if p.pos > 1<<10 {
			n = maxSlab
		}
		if p.grow != nil && !p.grow(int64(n)*nodeBytes) {
			p.err = ErrMemory
			return nil
		}
		p.slab = make([]Value, n)
	}
	v := &p.slab[0]
	p.slab = p.slab[1:]
	return v
}

// failAt notes an error behind so many bytes.
func (p *parser) failAt(pos int, reason string) {
	if p.err != nil {
		return
	}
	read := p.text[:min(pos, len(p.text))]
	line := strings.Count(read, "\n")
	p.err = &SyntaxError{Reason: reason, Line: line + 1, Column: len(read) - (strings.LastIndexByte(read, '\n') + 1)}
}

// failHere notes an error at the next byte, or that the text is at its end within something.
func (p *parser) failHere(reason, within string) {
	if p.pos >= len(p.text) {
		reason = "EOF while parsing " + within
	}
	p.failAt(p.pos+1, reason)
}

func (p *parser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// next returns the next byte that is no space; 0 at the end.
func (p *parser) next() byte {
	p.space()
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *parser) value(v *Value) {
	switch c := p.next(); {
	case c == '{' || c == '[':
		if p.depth++; p.depth > MaxDepth {
			p.failAt(p.pos+1, ErrDepth.Error())
			return
		}
		p.pos++
		if c == '{' {
			p.object(v)
		} else {
			p.array(v)
		}
		p.depth--
	case c == '"':
		p.pos++
		*v = Value{kind: String, text: p.string()}
	case c == '-' || c >= '0' && c <= '9':
		p.number(v)
	case c == 't':
		p.word(v, "true", True)
	case c == 'f':
		p.word(v, "false", False)
	case c == 'n':
		p.word(v, "null", Null)
	default:
		p.failHere("expected value", "a value")
	}
}

func (p *parser) word(v *Value, word string, kind Kind) {
	for i := range len(word) {
		if p.pos+i >= len(p.text) {
			p.failAt(len(p.text), "EOF while parsing a value")
			return
		}
		if p.text[p.pos+i] != word[i] {
			p.failAt(p.pos+i+1, "expected ident")
			return
		}
	}
	p.pos += len(word)
	*v = Value{kind: kind}
}

func (p *parser) array(v *Value) {
	*v = Value{kind: Array}
	if p.next() == ']' {
		p.pos++
		return
	}
	for p.err == nil {
		item := p.node()
		if item == nil {
			return
		}
		if p.next() == ']' {
			p.failAt(p.pos+1, "trailing comma")
			return
		}
		if p.pos >= len(p.text) {
			p.failHere("", "a list")
			return
		}
		if p.value(item); p.err != nil {
			return
		}
		v.items = append(v.items, item)
		switch p.next() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return
		default:
			p.failHere("expected `,` or `]`", "a list")
		}
	}
}

func (p *parser) object(v *Value) {
	*v = Value{kind: Object}
	if p.next() == '}' {
		p.pos++
		return
	}
	members := index{of: v}
	for p.err == nil {
		switch c := p.next(); {
		case c == '}':
			p.failAt(p.pos+1, "trailing comma")
			return
		case c != '"':
			p.failHere("key must be a string", "an object")
			return
		}
		p.pos++
		key := p.string()
		if p.err != nil {
			return
		}
		if p.next() != ':' {
			p.failHere("expected `:`", "an object")
			return
		}
		p.pos++
		item := p.node()
		if item == nil {
			return
		}
		if p.value(item); p.err != nil {
			return
		}
		if at, ok := members.find(key); ok {
			v.items[at] = item // of members with one name the last counts
		} else {
			members.add(key, item)
		}
		switch p.next() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			return
		default:
			p.failHere("expected `,` or `}`", "an object")
		}
	}
}

func (p *parser) number(v *Value) {
	start := p.pos
	if p.text[p.pos] == '-' {
		p.pos++
	}
	whole := p.digits()
	switch {
	case whole == 0:
		p.failHere("invalid number", "a value")
		return
	case whole > 1 && p.text[p.pos-whole] == '0':
		p.failAt(p.pos-whole+2, "invalid number")
		return
	}
	if p.pos < len(p.text) && p.text[p.pos] == '.' {
		p.pos++
		if p.digits() == 0 {
			p.failHere("invalid number", "a value")
			return
		}
	}
	if p.pos < len(p.text) && p.text[p.pos]|0x20 == 'e' {
		p.pos++
		if p.pos < len(p.text) && (p.text[p.pos] == '+' || p.text[p.pos] == '-') {
			p.pos++
		}
		if p.digits() == 0 {
			p.failHere("invalid number", "a value")
			return
		}
	}
	n, ok := number(p.text[start:p.pos])
	if !ok {
		p.failAt(p.pos, "number out of range")
		return
	}
	*v = n
}

func (p *parser) digits() (n int) {
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
		n++
	}
	return n
}

// string reads a string behind its first quote. It is part of the text, unless it has escapes.
func (p *parser) string() string {
	start := p.pos
	var built []byte
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == '"':
			s := p.text[start:p.pos]
			p.pos++
			if built != nil {
				return string(append(built, s...))
			}
			return s
		case c == '\\':
			built = append(built, p.text[start:p.pos]...)
			p.pos++
			if built = p.escape(built); p.err != nil {
				return ""
			}
			start = p.pos
		case c < ' ':
			p.failAt(p.pos+1, "control character (\\u0000-\\u001F) found while parsing a string")
			return ""
		default:
			p.pos++
		}
	}
	p.failAt(p.pos, "EOF while parsing a string")
	return ""
}

// escape appends what an escape behind its backslash says.
func (p *parser) escape(dst []byte) []byte {
	if p.pos >= len(p.text) {
		p.failAt(p.pos, "EOF while parsing a string")
		return nil
	}
	c := p.text[p.pos]
	p.pos++
	switch c {
	case '"', '\\', '/':
		return append(dst, c)
	case 'b':
		return append(dst, '\b')
	case 'f':
		return append(dst, '\f')
	case 'n':
		return append(dst, '\n')
	case 'r':
		return append(dst, '\r')
	case 't':
		return append(dst, '\t')
	case 'u':
		r := p.unit()
		if utf16.IsSurrogate(r) && p.err == nil {
			if !strings.HasPrefix(p.text[p.pos:], `\u`) {
				p.failAt(p.pos, "lone surrogate found")
				return nil
			}
			p.pos += 2
			if r = utf16.DecodeRune(r, p.unit()); r == utf8.RuneError {
				p.failAt(p.pos, "lone surrogate found")
				return nil
			}
		}
		return utf8.AppendRune(dst, r)
	}
	p.failAt(p.pos, "invalid escape")
	return nil
}

// unit reads four hexadecimal digits.
func (p *parser) unit() (r rune) {
	for range 4 {
		if p.pos >= len(p.text) {
			p.failAt(p.pos, "EOF while parsing a string")
			return 0
		}
		c := p.text[p.pos]
		p.pos++
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			p.failAt(p.pos, "invalid escape")
			return 0
		}
	}
	return r
}
