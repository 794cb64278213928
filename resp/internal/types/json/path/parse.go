package path

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ringside-kv/ringside/resp/internal/types/json/document"
)

// A parser reads a path. After an error it reads nothing more.
type parser struct {
	text    string
	pos     int
	nesting int
	weight  int64 // of regular expressions
	grow    func(bytes int64) bool
	err     error
}

func (p *parser) fail(reason string) {
	if p.err == nil {
		p.err = &SyntaxError{p.pos, reason}
	}
}

// peek returns the next byte; 0 at the end, and after an error.
func (p *parser) peek() byte {
	if p.err != nil || p.pos >= len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

// skip reads a word if it comes next.
func (p *parser) skip(word string) bool {
	if p.err != nil || !strings.HasPrefix(p.text[p.pos:], word) {
		return false
	}
	p.pos += len(word)
	return true
}

func (p *parser) space() {
	for p.peek() == ' ' {
		p.pos++
	}
}

// path reads segments. At the top they reach up to the end, in a filter up to what is no segment.
func (p *parser) path(top bool) (all []segment) {
	for p.err == nil {
		if top {
			p.space()
		}
		var s segment
		switch {
		case p.skip(".."):
			s.descend = true
			switch p.peek() {
			case '[':
				s.selectors = p.bracket()
			default:
				s.selectors = []selector{p.name()}
			}
		case p.skip("."):
			if p.peek() == '[' {
				s.selectors = p.bracket()
			} else {
				s.selectors = []selector{p.name()}
			}
		case p.peek() == '[':
			s.selectors = p.bracket()
		default:
			return all
		}
		all = append(all, s)
	}
	return all
}

// endsName has the ASCII characters that are no part of a name without quotes.
const endsName = " .[](){}@\"',*?=!<>&|\\"

// name reads a name without quotes, or a wildcard.
func (p *parser) name() selector {
	if p.skip("*") {
		return selector{kind: selectAll}
	}
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] >= ' ' && strings.IndexByte(endsName, p.text[p.pos]) < 0 {
		p.pos++
	}
	if p.pos == start {
		p.fail("a name is missing")
	}
	name := p.text[start:p.pos]
	if !utf8.ValidString(name) {
		p.fail("a name is not UTF-8")
	}
	return selector{kind: selectName, name: name}
}

// bracket reads what stands in brackets.
func (p *parser) bracket() (all []selector) {
	p.pos++
	for p.err == nil {
		p.space()
		switch c := p.peek(); {
		case c == '*':
			p.pos++
			all = append(all, selector{kind: selectAll})
		case c == '?':
			p.pos++
			all = append(all, selector{kind: selectFilter, filter: p.filter()})
		case c == '\'' || c == '"':
			all = append(all, selector{kind: selectName, name: p.quoted()})
		case c == ':' || c == '-' || c >= '0' && c <= '9':
			all = append(all, p.numbers())
		default:
			p.fail("a name, a number, a wildcard or a filter is missing")
		}
		p.space()
		if p.skip("]") {
			return all
		}
		if !p.skip(",") {
			p.fail("`,` or `]` is missing")
		}
	}
	return all
}

// numbers reads the number of an element, or a slice.
func (p *parser) numbers() selector {
	s := selector{kind: selectIndex, step: 1}
	s.index, s.hasFrom = p.integer()
	p.space()
	if !p.skip(":") {
		if !s.hasFrom {
			p.fail("a number is missing")
		}
		return s
	}
	s.kind, s.from = selectSlice, s.index
	p.space()
	s.to, s.hasTo = p.integer()
	p.space()
	if p.skip(":") {
		p.space()
		step, ok := p.integer()
		if ok {
			s.step = step
		}
		if s.step <= 0 {
			p.fail("the step of a slice is not positive")
		}
	}
	return s
}

func (p *parser) integer() (n int64, ok bool) {
	start := p.pos
	p.skip("-")
	for p.peek() >= '0' && p.peek() <= '9' {
		p.pos++
	}
	if p.pos == start {
		return 0, false
	}
	n, err := strconv.ParseInt(p.text[start:p.pos], 10, 64)
	if err != nil {
		p.pos = start
		p.fail("not an integer of 64 bits")
	}
	return n, true
}

// quoted reads a string in quotes of either kind. A backslash stands before a quote, or another backslash.
func (p *parser) quoted() string {
	quote := p.text[p.pos]
	p.pos++
	var built strings.Builder
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		p.pos++
		switch {
		case c == quote:
			if s := built.String(); utf8.ValidString(s) {
				return s
			}
			p.fail("a string is not UTF-8")
			return ""
		case c == '\\' && p.pos < len(p.text) && strings.IndexByte(`\'"`, p.text[p.pos]) >= 0:
			built.WriteByte(p.text[p.pos])
			p.pos++
		default:
			built.WriteByte(c)
		}
	}
	p.fail("a string has no end")
	return ""
}

// nested reads an expression that lies within another one.
func (p *parser) nested(read func() *expression) *expression {
	if p.nesting++; p.nesting > maxNesting {
		p.fail("filters are nested too deep")
		return nil
	}
	e := read()
	p.nesting--
	return e
}

func (p *parser) filter() *expression { return p.nested(p.or) }

func (p *parser) or() *expression {
	return p.chain("||", exprOr, p.and)
}

func (p *parser) and() *expression {
	return p.chain("&&", exprAnd, p.unary)
}

// chain reads expressions with an operator between them. They lie in a list: the right sides, one after the other.
func (p *parser) chain(operator string, kind expressionKind, read func() *expression) *expression {
	first := read()
	p.space()
	if !p.skip(operator) {
		return first
	}
	e := &expression{kind: kind, left: first}
	last := e
	for {
		next := read()
		p.space()
		if !p.skip(operator) {
			last.right = next
			return e
		}
		last.right = &expression{kind: kind, left: next}
		last = last.right
	}
}

func (p *parser) unary() *expression {
	p.space()
	switch {
	case p.peek() == '!':
		p.pos++
		return &expression{kind: exprNot, left: p.nested(p.unary)}
	case p.peek() == '(':
		p.pos++
		e := p.filter()
		p.space()
		if !p.skip(")") {
			p.fail("`)` is missing")
		}
		return e
	}
	return p.comparison()
}

// operators are those of comparisons, longer ones first.
var operators = []struct {
	word string
	kind expressionKind
}{
	{"==", exprEqual}, {"!=", exprNotEqual}, {"<=", exprLessEqual}, {">=", exprGreaterEqual}, {"=~", exprMatches},
	{"<", exprLess}, {">", exprGreater},
}

func (p *parser) comparison() *expression {
	left := p.term()
	p.space()
	for _, o := range operators {
		if !p.skip(o.word) {
			continue
		}
		p.space()
		e := &expression{kind: o.kind, left: left, right: p.term()}
		if e.kind == exprMatches && p.err == nil && e.right.kind == exprLiteral && e.right.value.Kind() == document.String {
			p.compile(e)
		}
		return e
	}
	return left
}

// compile compiles the regular expression of a comparison.
func (p *parser) compile(e *expression) {
	compiled, weight := compilePattern(e.right.value.Text(), maxPatternWeight-p.weight)
	p.weight += weight
	switch e.pattern = compiled; {
	case p.weight > maxPatternWeight:
		p.fail("the regular expressions are too large")
	case compiled == nil:
		p.fail("not a regular expression")
	case p.grow != nil && !p.grow(weight*weightBytes):
		p.err = ErrMemory
	}
}

func (p *parser) term() *expression {
	switch c := p.peek(); {
	case c == '@' || c == '$':
		p.pos++
		e := &expression{kind: exprCurrent}
		if c == '$' {
			e.kind = exprRoot
		}
		e.segments = p.path(false)
		return e
	case c == '\'' || c == '"':
		return &expression{kind: exprLiteral, value: document.NewString(p.quoted())}
	case c == 0:
		p.fail("a value is missing")
		return &expression{kind: exprLiteral}
	}
	// All else is JSON: a number, true, false, null, an array or an object.
	start := p.pos
	end := literalEnd(p.text[start:])
	v, err := document.Parse([]byte(p.text[start:start+end]), p.grow)
	if err == document.ErrMemory {
		p.err = ErrMemory
		return &expression{kind: exprLiteral}
	}
	if err != nil {
		p.fail("not a value")
		return &expression{kind: exprLiteral}
	}
	p.pos += end
	return &expression{kind: exprLiteral, value: v}
}

// literalEnd returns how many bytes at the beginning of a text are a JSON value, if it begins with one.
func literalEnd(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case (c == ']' || c == '}') && depth > 0:
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && strings.IndexByte(" )],&|=!<>", c) >= 0:
			return i
		}
	}
	return len(text)
}
