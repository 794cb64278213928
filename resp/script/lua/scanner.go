package lua

import (
	"fmt"
	"strings"
)

// A token is a word of the language: a byte for what is one byte long, else one of these.
type token int

const (
	tokAnd token = iota + 257
	tokBreak
	tokDo
	tokElse
	tokElseif
	tokEnd
	tokFalse
	tokFor
	tokFunction
	tokIf
	tokIn
	tokLocal
	tokNil
	tokNot
	tokOr
	tokRepeat
	tokReturn
	tokThen
	tokTrue
	tokUntil
	tokWhile
	tokConcat
	tokDots
	tokEqual
	tokGreaterEqual
	tokLessEqual
	tokNotEqual
	tokNumber
	tokName
	tokString
	tokEOF
)

var tokenTexts = [...]string{
	"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
	"repeat", "return", "then", "true", "until", "while", "..", "...", "==", ">=", "<=", "~=", "<number>", "<name>",
	"<string>", "<eof>",
}

var reserved = func() map[string]token {
	words := make(map[string]token)
	for t := tokAnd; t <= tokWhile; t++ {
		words[t.String()] = t
	}
	return words
}()

// String returns a token as errors show it.
func (t token) String() string {
	switch {
	case t >= tokAnd:
		return tokenTexts[t-tokAnd]
	case t < ' ' || t == 0x7f:
		return fmt.Sprintf("char(%d)", int(t))
	}
	return string([]byte{byte(t)})
}

// A SyntaxError says where and why a chunk is not Lua, as Lua words it.
type SyntaxError struct{ Message string }

// Error implements error.
func (e *SyntaxError) Error() string { return e.Message }

// A scanner splits a chunk into tokens. Its errors are panics with a *SyntaxError.
type scanner struct {
	src   string
	chunk string // as errors name it
	pos   int    // of the next byte
	line  int    // of the next byte
	start int    // of the token
	end   int
	tok   token
	text  string  // of a name or string
	num   float64 // of a number

	last   int // line of the token before
	ahead  bool
	stored scanned // the token at hand, when ahead was read
}

type scanned struct {
	tok        token
	text       string
	num        float64
	start, end int
}

// fail raises an error about a token, or about none if near is "".
func (s *scanner) fail(msg, near string) {
	if near != "" {
		msg += " near '" + cutZero(near) + "'"
	}
	panic(&SyntaxError{fmt.Sprintf("%s:%d: %s", s.chunk, s.line, msg)})
}

// failHere raises an error about the token at hand.
func (s *scanner) failHere(msg string) {
	switch s.tok {
	case 0: // a byte of the source
		s.fail(msg, "")
	case tokName, tokNumber:
		s.fail(msg, s.src[s.start:s.end])
	case tokString:
		s.fail(msg, s.shown())
	}
	s.fail(msg, s.tok.String())
}

// shown returns the string at hand as errors show it: delimited as in the source, without
// escapes.
func (s *scanner) shown() string {
	opening := 1
	if s.src[s.start] == '[' {
		opening = 2 + strings.IndexByte(s.src[s.start+1:], '[')
	}
	return s.src[s.start:s.start+opening] + s.text + s.src[s.end-opening:s.end]
}

// cutZero ends a text where C does.
func cutZero(s string) string {
	text, _, _ := strings.Cut(s, "\x00")
	return text
}

// next reads the next token.
func (s *scanner) next() {
	s.last = s.line
	if s.ahead {
		s.ahead = false
		s.restore(s.stored)
		return
	}
	s.tok = s.scan()
	s.end = s.pos
}

func (s *scanner) save() scanned { return scanned{s.tok, s.text, s.num, s.start, s.end} }

func (s *scanner) restore(t scanned) {
	s.tok, s.text, s.num, s.start, s.end = t.tok, t.text, t.num, t.start, t.end
}

// peek returns the token after the one at hand. The line goes on, as in Lua's own scanner.
func (s *scanner) peek() token {
	if !s.ahead {
		now := s.save()
		s.tok = s.scan()
		s.end = s.pos
		s.stored, s.ahead = s.save(), true
		s.restore(now)
	}
	return s.stored.tok
}

// at returns the byte i places ahead, or -1 at the end.
func (s *scanner) at(i int) int {
	if s.pos+i < len(s.src) {
		return int(s.src[s.pos+i])
	}
	return -1
}

// atOneOf reports whether the byte i places ahead is one of some. As with C's strchr, which
// Lua uses, a zero is.
func (s *scanner) atOneOf(i int, bytes string) bool {
	c := s.at(i)
	return c == 0 || c > 0 && strings.IndexByte(bytes, byte(c)) >= 0
}

func (s *scanner) scan() token {
	for {
		s.start = s.pos
		c := s.at(0)
		switch {
		case c < 0:
			return tokEOF
		case c == '\n' || c == '\r':
			s.newline()
			continue
		case isSpace(byte(c)):
			s.pos++
			continue
		case c == '-' && s.at(1) == '-':
			s.comment()
			continue
		case c == '[':
			if level := s.longLevel(); level >= 0 {
				s.text = s.long(level, "string")
				return tokString
			} else if level < -1 {
				s.fail("invalid long string delimiter", s.src[s.start:s.pos])
			}
		case c == '"' || c == '\'':
			s.quoted(c)
			return tokString
		case isDigit(byte(c)) || c == '.' && s.pos+1 < len(s.src) && isDigit(s.src[s.pos+1]):
			s.number()
			return tokNumber
		case isLetter(byte(c)):
			for s.pos < len(s.src) && (isLetter(s.src[s.pos]) || isDigit(s.src[s.pos])) {
				s.pos++
			}
			s.text = s.src[s.start:s.pos]
			if t, ok := reserved[s.text]; ok {
				return t
			}
			return tokName
		case c == '.' && s.atOneOf(1, ".") && s.atOneOf(2, "."):
			s.pos += 3
			return tokDots
		case c == '.' && s.atOneOf(1, "."):
			s.pos += 2
			return tokConcat
		case s.at(1) == '=':
			if i := strings.IndexByte("=<>~", byte(c)); i >= 0 {
				s.pos += 2
				return [...]token{tokEqual, tokLessEqual, tokGreaterEqual, tokNotEqual}[i]
			}
		}
		s.pos++
		return token(c)
	}
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func isSpace(c byte) bool  { return c == ' ' || c >= '\t' && c <= '\r' }

// newline skips the end of a line, which may be two bytes.
func (s *scanner) newline() {
	c := s.src[s.pos]
	s.pos++
	if other := s.at(0); (other == '\n' || other == '\r') && other != int(c) {
		s.pos++
	}
	s.line++
}

func (s *scanner) comment() {
	s.pos += 2
	if s.at(0) == '[' {
		s.start = s.pos
		if level := s.longLevel(); level >= 0 {
			s.long(level, "comment")
			return
		}
	}
	for c := s.at(0); c >= 0 && c != '\n' && c != '\r'; c = s.at(0) {
		s.pos++
	}
}

// longLevel returns how many "=" the bracket at hand has, if it opens a long string, and skips
// them. Else it returns -1 for a single bracket, less for one with "=" only.
func (s *scanner) longLevel() int {
	n := 1
	for s.at(n) == '=' {
		n++
	}
	if s.at(n) == '[' {
		s.pos += n + 1
		return n - 1
	}
	if n > 1 {
		s.pos += n
	}
	return -n
}

// long reads a long string or comment up to its closing bracket.
func (s *scanner) long(level int, what string) string {
	var text strings.Builder
	if c := s.at(0); c == '\n' || c == '\r' {
		s.newline()
	}
	closing := "]" + strings.Repeat("=", level) + "]"
	for {
		c := s.at(0)
		switch {
		case c < 0:
			s.fail("unfinished long "+what, tokEOF.String())
		case c == '[' && level == 0 && s.at(1) == '[':
			s.pos++
			s.fail("nesting of [[...]] is deprecated", "[")
		case c == ']' && strings.HasPrefix(s.src[s.pos:], closing):
			s.pos += len(closing)
			return text.String()
		case c == '\n' || c == '\r':
			s.newline()
			text.WriteByte('\n')
		default:
			s.pos++
			text.WriteByte(byte(c))
		}
	}
}

// quoted reads a string in quotes.
func (s *scanner) quoted(quote int) {
	var text strings.Builder
	s.pos++
	for {
		c := s.at(0)
		switch c {
		case -1:
			s.fail("unfinished string", tokEOF.String())
		case '\n', '\r':
			s.fail("unfinished string", s.src[s.start:s.start+1]+text.String())
		case quote:
			s.pos++
			s.text = text.String()
			return
		case '\\':
			s.pos++
			s.escape(&text)
		default:
			s.pos++
			text.WriteByte(byte(c))
		}
	}
}

func (s *scanner) escape(text *strings.Builder) {
	c := s.at(0)
	switch {
	case c < 0: // the loop of the caller says so
	case c == '\n' || c == '\r':
		s.newline()
		text.WriteByte('\n')
	case isDigit(byte(c)):
		n := 0
		for i := 0; i < 3 && s.pos < len(s.src) && isDigit(s.src[s.pos]); i++ {
			n = n*10 + int(s.src[s.pos]-'0')
			s.pos++
		}
		if n > 255 {
			s.fail("escape sequence too large", s.src[s.start:s.start+1]+text.String())
		}
		text.WriteByte(byte(n))
	default:
		s.pos++
		if i := strings.IndexByte("abfnrtv", byte(c)); i >= 0 {
			c = int("\a\b\f\n\r\t\v"[i])
		}
		text.WriteByte(byte(c))
	}
}

// number reads a number: what looks like one, with all letters and digits that follow.
func (s *scanner) number() {
	for c := s.at(0); c == '.' || c >= 0 && isDigit(byte(c)); c = s.at(0) {
		s.pos++
	}
	if s.atOneOf(0, "eE") {
		s.pos++
		if s.atOneOf(0, "+-") {
			s.pos++
		}
	}
	for c := s.at(0); c >= 0 && (isLetter(byte(c)) || isDigit(byte(c))); c = s.at(0) {
		s.pos++
	}
	var ok bool
	if s.num, ok = ParseNumber(s.src[s.start:s.pos]); !ok {
		s.fail("malformed number", s.src[s.start:s.pos])
	}
}
