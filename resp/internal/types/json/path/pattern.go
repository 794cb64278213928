package path

import (
	"regexp"
	"regexp/syntax"
)

const (
	// maxPattern is the length in bytes of the longest regular expression.
	maxPattern = 1 << 10
	// maxPatternWeight bounds what the regular expressions of a path take together: instructions, and bounds of the
	// ranges of characters in them.
	maxPatternWeight = 1 << 18
	// weightBytes is what each of them takes.
	weightBytes = 16
)

// A pattern is a regular expression and how many instructions it has.
type pattern struct {
	*regexp.Regexp
	size int64
}

// compilePattern returns a regular expression and its weight, or nil if the text is none or weighs more than most.
func compilePattern(text string, most int64) (p *pattern, weight int64) {
	if len(text) > maxPattern {
		return nil, 0
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, 0
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0
	}
	for i := range program.Inst {
		weight += 1 + int64(len(program.Inst[i].Rune))
	}
	if weight > most {
		return nil, weight
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, 0
	}
	return &pattern{compiled, int64(len(program.Inst))}, weight
}
