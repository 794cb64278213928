package path

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/types/json/document"
)

const (
	// MaxText is the length in bytes of the longest path.
	MaxText = 64 << 10
	// maxNesting is how deep filters may lie within each other.
	maxNesting = 32
	// queryBytes is what a path takes, and textBytes each byte of its text.
	queryBytes, textBytes = 256, 64
)

// ErrSteps says that a query looks at more values than it may.
var ErrSteps = errors.New("the path looks at too many values")

// ErrMemory says that there is no memory for a query, or for what it finds.
var ErrMemory = errors.New("no memory for the path, or what it finds")

// A SyntaxError says where a path is none.
type SyntaxError struct {
	Offset int // in bytes, from 0
	Reason string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSONPath at byte %d: %s", e.Offset, e.Reason)
}

// A Query is a path that can be evaluated, by several goroutines at once.
type Query struct {
	// Legacy: the path names one value, and replies have another form.
	Legacy   bool
	segments []segment
}

// A segment is a step down from each value that the path has reached.
type segment struct {
	// descend: from the value itself and from all below it.
	descend   bool
	selectors []selector
}

// A selector chooses from what a value holds.
type selector struct {
	kind           selectorKind
	name           string
	index          int64
	from, to, step int64
	hasFrom, hasTo bool
	filter         *expression
}

type selectorKind uint8

const (
	selectName selectorKind = iota
	selectIndex
	selectSlice
	selectAll
	selectFilter
)

// An expression is a filter, or a part of one.
type expression struct {
	kind        expressionKind
	left, right *expression
	value       *document.Value // a literal
	segments    []segment       // of a path
	pattern     *pattern        // of a literal on the right of =~
}

type expressionKind uint8

const (
	exprOr expressionKind = iota
	exprAnd
	exprNot
	exprEqual
	exprNotEqual
	exprLess
	exprLessEqual
	exprGreater
	exprGreaterEqual
	exprMatches
	exprLiteral
	exprCurrent // a path from the value that is filtered
	exprRoot    // a path from the root
)

// IsRoot reports whether the path is that of the whole document.
func (q *Query) IsRoot() bool { return len(q.segments) == 0 }

// A Last is the last step of a path that names one place: a member, or an element.
type Last struct {
	Name    string
	IsIndex bool
}

// Parent splits a path that names one place into that of the place around it, and the last step. ok is false for other
// paths.
func (q *Query) Parent() (parent *Query, last Last, ok bool) {
	for i := range q.segments {
		s := &q.segments[i]
		if s.descend || len(s.selectors) != 1 || s.selectors[0].kind > selectIndex {
			return nil, last, false
		}
	}
	if q.IsRoot() {
		return nil, last, false
	}
	at := len(q.segments) - 1
	end := &q.segments[at].selectors[0]
	return &Query{segments: q.segments[:at]}, Last{Name: end.name, IsIndex: end.kind == selectIndex}, true
}

// IsLegacy reports whether a text is a legacy path.
func IsLegacy(text string) bool {
	return !strings.HasPrefix(text, "$") || len(text) > 1 && text[1] != '.' && text[1] != '['
}

// Compile reads a path, of either language. grow is asked for memory, unless it is nil. The errors are [SyntaxError] and
// [ErrMemory].
func Compile(text string, grow func(bytes int64) bool) (*Query, error) {
	if len(text) > MaxText {
		return nil, &SyntaxError{MaxText, fmt.Sprintf("it is longer than %d bytes", MaxText)}
	}
	if grow != nil && !grow(queryBytes+int64(len(text))*textBytes) {
		return nil, ErrMemory
	}
	q := &Query{Legacy: IsLegacy(text)}
	p := parser{text: text, grow: grow}
	switch {
	case !q.Legacy:
		p.pos = 1
	case text == ".":
		return q, nil
	case text == "":
		return nil, &SyntaxError{0, "it is empty"}
	case text[0] != '.' && text[0] != '[':
		name := p.name()
		if p.err != nil {
			return nil, p.err
		}
		q.segments = append(q.segments, segment{selectors: []selector{name}})
	}
	q.segments = append(q.segments, p.path(true)...)
	if p.err == nil && p.pos < len(text) {
		p.fail("unexpected character")
	}
	if p.err != nil {
		return nil, p.err
	}
	return q, nil
}
