package path

import "github.com/ringside-kv/ringside/resp/internal/types/json/document"

// A Match is a value that a query has found, and how deep it lies: 0 for the root.
type Match struct {
	*document.Value
	Depth int
}

const (
	// matchBytes is what a match takes, and firstMatches for how many there is room first.
	matchBytes   = 16
	firstMatches = 8
	// patternSteps is what a match with a regular expression counts, beside one for so many bytes of the string, each
	// once for each instruction of the expression. compileSteps is what it counts to compile one.
	patternSteps, patternBytes = 16, 16
	compileSteps               = 10_000
	// compareBytes is how many bytes of two strings count as one step.
	compareBytes = 512
)

// Select returns the values that a query finds, those of an array or an object in their order, each before what lies below it. One
// may come several times. grow is asked for memory, unless it is nil. The errors are [ErrSteps] and [ErrMemory].
func (q *Query) Select(root *document.Value, grow func(bytes int64) bool) ([]Match, error) {
	return q.SelectWithin(NewSteps(root, 1), grow)
}

// SelectWithin is Select in the document of some steps, which it takes.
func (q *Query) SelectWithin(steps *Steps, grow func(bytes int64) bool) ([]Match, error) {
	root := steps.root
	e := evaluation{root: root, steps: steps, err: steps.err}
	if q.IsRoot() {
		return []Match{{root, 0}}, nil
	}
	e.walk(Match{root, 0}, q.segments, func(m Match) bool {
		if len(e.found) == cap(e.found) {
			room := max(firstMatches, 2*cap(e.found))
			if grow != nil && !grow(int64(room)*matchBytes) {
				e.err = ErrMemory
				return false
			}
			e.found = append(make([]Match, 0, room), e.found...)
		}
		e.found = append(e.found, m)
		return true
	})
	if e.err != nil {
		return nil, e.err
	}
	return e.found, nil
}

// An evaluation is one run of a query.
type evaluation struct {
	root  *document.Value
	steps *Steps
	found []Match
	err   error
	// pattern is the last regular expression that stood in the document, and patternText its text.
	pattern     *pattern
	patternText string
}

// step counts steps, and reports whether they may be made.
func (e *evaluation) step(n int64) bool {
	if !e.steps.Take(n) && e.err == nil {
		e.err = ErrSteps
	}
	return e.err == nil
}

// walk calls yield for all that segments find from a value on, until it returns false. It reports whether to go on.
func (e *evaluation) walk(m Match, segments []segment, yield func(Match) bool) bool {
	if !e.step(1) {
		return false
	}
	if len(segments) == 0 {
		return yield(m) && e.err == nil
	}
	s := &segments[0]
	for i := range s.selectors {
		if !e.choose(m, &s.selectors[i], func(child Match) bool { return e.walk(child, segments[1:], yield) }) {
			return false
		}
	}
	if s.descend {
		for i := range m.Len() {
			if !e.walk(Match{m.At(i), m.Depth + 1}, segments, yield) {
				return false
			}
		}
	}
	return true
}

// choose calls yield for what a selector chooses from what m holds.
func (e *evaluation) choose(m Match, s *selector, yield func(Match) bool) bool {
	child := func(i int) bool { return yield(Match{m.At(i), m.Depth + 1}) }
	n := int64(m.Len())
	switch isArray := m.Kind() == document.Array; s.kind {
	case selectName:
		if m.Kind() == document.Object {
			if !e.step(n / 8) {
				return false
			}
			if i := m.Find(s.name); i >= 0 {
				return child(i)
			}
		}
	case selectIndex:
		i := s.index
		if i < 0 {
			i += n
		}
		if isArray && i >= 0 && i < n {
			return child(int(i))
		}
	case selectSlice:
		if !isArray {
			break
		}
		from, to := int64(0), n
		if s.hasFrom {
			from = bound(s.from, n)
		}
		if s.hasTo {
			to = bound(s.to, n)
		}
		for i := from; i < to; i += s.step {
			if !child(int(i)) {
				return false
			}
			if s.step > n {
				break
			}
		}
	case selectAll:
		for i := range m.Len() {
			if !child(i) {
				return false
			}
		}
	case selectFilter:
		for i := range m.Len() {
			if !e.step(1) {
				return false
			}
			if e.holds(s.filter, m.At(i)) && !child(i) {
				return false
			}
		}
	}
	return e.err == nil
}

// bound turns an end of a slice into a number from 0 to n.
func bound(i, n int64) int64 {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

// holds reports whether a filter lets a value through.
func (e *evaluation) holds(f *expression, v *document.Value) bool {
	for ; ; f = f.right { // the list of a chain
		if !e.step(1) {
			return false
		}
		switch f.kind {
		case exprOr:
			if e.holds(f.left, v) {
				return true
			}
		case exprAnd:
			if !e.holds(f.left, v) {
				return false
			}
		case exprNot:
			return !e.holds(f.left, v) && e.err == nil
		case exprLiteral, exprCurrent, exprRoot:
			return e.operand(f, v) != nil
		default:
			return e.compares(f, v)
		}
	}
}

// operand returns the value of a side of a comparison; nil if there is none. Of several that a path finds it is the first.
func (e *evaluation) operand(f *expression, v *document.Value) (found *document.Value) {
	switch f.kind {
	case exprLiteral:
		return f.value
	case exprRoot:
		v = e.root
	}
	e.walk(Match{v, 0}, f.segments, func(m Match) bool {
		found = m.Value
		return false
	})
	return found
}

func (e *evaluation) compares(f *expression, v *document.Value) bool {
	left := e.operand(f.left, v)
	right := e.operand(f.right, v)
	if left == nil || right == nil || e.err != nil {
		return f.kind == exprNotEqual && e.err == nil && (left == nil) != (right == nil)
	}
	if f.kind == exprMatches {
		return e.matches(f.pattern, left, right)
	}
	c, ordered := left.Compare(right)
	if ordered && left.Kind() == document.String && !e.step(int64(min(len(left.Text()), len(right.Text()))/compareBytes)) {
		return false
	}
	switch f.kind {
	case exprEqual, exprNotEqual:
		equal := ordered && c == 0
		if !ordered {
			equal = left.Equal(right, e.step)
		}
		return equal == (f.kind == exprEqual) && e.err == nil
	case exprLess:
		return ordered && c < 0
	case exprLessEqual:
		return ordered && c <= 0
	case exprGreater:
		return ordered && c > 0
	}
	return ordered && c >= 0
}

// matches reports whether a part of a string is what a regular expression says.
func (e *evaluation) matches(p *pattern, left, right *document.Value) bool {
	if left.Kind() != document.String || right.Kind() != document.String {
		return false
	}
	text := left.Text()
	if p == nil { // it stands in the document
		if p = e.compiled(right.Text()); p == nil {
			return false
		}
	}
	return e.step(patternSteps+int64(len(text))*p.size/patternBytes) && p.MatchString(text)
}

// compiled returns a regular expression that stands in the document, or nil if it is none.
func (e *evaluation) compiled(text string) *pattern {
	if e.patternText != text || e.patternText == "" {
		if !e.step(compileSteps) {
			return nil
		}
		e.pattern, _ = compilePattern(text, maxPatternWeight)
		e.patternText = text
	}
	return e.pattern
}
