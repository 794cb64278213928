package workload

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Word knows the column in which it begins, in bytes from 1 on.
type Word struct {
	Text   string
	Column int
}

// Fault says what is wrong with a word; it wraps of.
func (w Word) Fault(of error, format string, args ...any) error {
	return Fault(of, w.Column, format, args...)
}

// Fault says what is wrong at a column; it wraps of.
func Fault(of error, column int, format string, args ...any) error {
	return fmt.Errorf("%w: column %d: %s", of, column, fmt.Sprintf(format, args...))
}

var wordPattern = regexp.MustCompile(`[^ \t\r\n]+`)

// Words are what lies between spaces, tabs and ends of lines in a text that begins at a
// column.
func Words(text string, column int) []Word {
	var words []Word
	for _, at := range wordPattern.FindAllStringIndex(text, -1) {
		words = append(words, Word{text[at[0]:at[1]], column + at[0]})
	}
	return words
}

// Parts goes over the words of each part of a text, with semicolons between them. Parts
// without words are passed over.
func Parts(text string) func(yield func([]Word) bool) {
	return func(yield func([]Word) bool) {
		at := 0
		for part := range strings.SplitSeq(text, ";") {
			words := Words(part, at+1)
			at += len(part) + 1
			if len(words) > 0 && !yield(words) {
				return
			}
		}
	}
}

// Bounds of the texts that [ParseSteps] reads.
const (
	maxLen    = 64 << 10
	maxSteps  = 10_000
	maxFaults = 20 // of which a message tells
)

// ParseSteps reads each part of a text. The error joins every fault and wraps of.
func ParseSteps[T any](of error, text string, parse func(words []Word) (T, error)) ([]T, error) {
	if len(text) > maxLen {
		return nil, Fault(of, maxLen, "it is longer than %d bytes", maxLen)
	}
	var steps []T
	var faults []error
	for words := range Parts(text) {
		if len(steps) == maxSteps {
			return nil, words[0].Fault(of, "more than %d steps", maxSteps)
		}
		step, err := parse(words)
		if err == nil {
			steps = append(steps, step)
		} else if faults = append(faults, err); len(faults) > maxFaults {
			break
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return steps, nil
}

// AtMost returns a fault of the first word that is too much.
func AtMost(most int, of error, words []Word) error {
	if len(words) <= most {
		return nil
	}
	return words[most].Fault(of, "%.40q is too much", words[most].Text)
}

// Range are the words on both sides of two dots, as in 10..1000. Without dots both are the word.
func (w Word) Range() (from, to Word, dots bool) {
	low, high, dots := strings.Cut(w.Text, "..")
	if !dots {
		return w, w, false
	}
	return Word{low, w.Column}, Word{high, w.Column + len(low) + len("..")}, true
}

// Hotspot are the shares of keys and of requests that follow the word hotspot, as in the example.
func (w Word) Hotspot(of error, rest []Word, example string) (shares [2]float64, err error) {
	if len(rest) < 2 {
		return shares, w.Fault(of, "a hotspot has two shares, of keys and of requests, as in %s", example)
	}
	if err := AtMost(2, of, rest); err != nil {
		return shares, err
	}
	for i := range shares {
		if shares[i], err = rest[i].Share(of); err != nil {
			return shares, err
		}
	}
	return shares, nil
}

// Int is a whole number within bounds. It may end with k, m or g, for thousands, millions
// and thousands of millions.
func (w Word) Int(of error, least, most int64) (int64, error) {
	text, times := w.Text, int64(1)
	if end := len(text) - 1; end >= 0 {
		if i := strings.IndexByte("kKmMgG", text[end]); i >= 0 {
			text, times = text[:end], [...]int64{1e3, 1e6, 1e9}[i/2]
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, w.Fault(of, "%.40q is not an integer", w.Text)
	}
	if n < least/times || n > most/times || n*times < least || n*times > most {
		return 0, w.Fault(of, "%.40s is not within %d..%d", w.Text, least, most)
	}
	return n * times, nil
}

// Float is a number within bounds.
func (w Word) Float(of error, least, most float64) (float64, error) {
	x, err := strconv.ParseFloat(w.Text, 64)
	if err != nil {
		return 0, w.Fault(of, "%.40q is not a number", w.Text)
	}
	if !(x >= least && x <= most) {
		return 0, w.Fault(of, "%.40s is not within %v..%v", w.Text, least, most)
	}
	return x, nil
}

// Share is a part of something, as in 12.5%: above 0 and up to 1.
func (w Word) Share(of error) (float64, error) {
	number, ok := strings.CutSuffix(w.Text, "%")
	x, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(x > 0 && x <= 100) {
		return 0, w.Fault(of, "%.40q is not a share, as in 90%%", w.Text)
	}
	return x / 100, nil
}

// Duration is a time within bounds, as in 1m30s.
func (w Word) Duration(of error, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(w.Text)
	if err != nil {
		return 0, w.Fault(of, "%.40q is not a time, as in 8s or 250ms", w.Text)
	}
	if d < least || d > most {
		return 0, w.Fault(of, "%.40s is not within %v..%v", w.Text, least, most)
	}
	return d, nil
}
