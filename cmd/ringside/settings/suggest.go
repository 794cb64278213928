package settings

import (
	"fmt"
	"sort"
	"strings"
)

// suggest ends the sentence about an unknown name: with the setting that was
// meant, written as the source writes it, if there is one near.
func (s *Set) suggest(prefix, unknown string) string {
	name := s.nearest(unknown)
	if name == "" {
		return ""
	}
	if prefix == s.prefix {
		return fmt.Sprintf("; did you mean %s?", s.variable(name))
	}
	return fmt.Sprintf("; did you mean %s%s?", prefix, name)
}

func (s *Set) nearest(unknown string) string {
	unknown = strings.ToLower(strings.ReplaceAll(unknown, "_", "-"))
	if name, ok := s.byAKA[unknown]; ok {
		return name
	}
	names := make([]string, 0, len(s.byName))
	for name := range s.byName {
		names = append(names, name)
	}
	sort.Strings(names)
	best, least := "", max(2, len(unknown)/3)+1
	for _, name := range names {
		d := distance(unknown, name)
		if len(unknown) >= 3 && strings.HasPrefix(name, unknown) {
			d = min(d, 2)
		}
		if d < least && d < len(name) {
			best, least = name, d
		}
	}
	return best
}

// distance is Levenshtein's: the fewest letters to put in, take out or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
