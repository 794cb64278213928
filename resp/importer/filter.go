package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/glob"
)

// A Filter says which keys are taken, and into which database. The zero value takes all keys into the
// databases that they come from.
type Filter struct {
	// Databases maps numbers of the source to numbers of the target. If it is not nil, only those are
	// taken that it names.
	Databases map[int]int
	// Match is a pattern as SCAN takes it; empty: all keys.
	Match string
	// Owns, if set, reports whether the source is where clients look for a key. Others are stale copies.
	Owns func(key []byte) bool

	pool string // which pool and which of its servers Owns is of
}

// describe says which keys are taken, and into which databases: two filters with the same description take the same.
func (f *Filter) describe() string {
	what := []string{"all databases"}
	if f.Databases != nil {
		what = what[:0]
		for _, n := range slices.Sorted(maps.Keys(f.Databases)) {
			what = append(what, fmt.Sprintf("database %d into %d", n, f.Databases[n]))
		}
	}
	if f.Match != "" {
		what = append(what, fmt.Sprintf("keys that match %q", f.Match))
	}
	if f.pool != "" {
		what = append(what, f.pool)
	}
	return strings.Join(what, ", ")
}

// database returns the number that a database has in the target.
func (f *Filter) database(n int) (target int, ok bool) {
	if f.Databases == nil {
		return n, true
	}
	target, ok = f.Databases[n]
	return target, ok
}

// all reports whether all keys of a database are taken, and no other database goes to the same one.
func (f *Filter) all(n int) bool {
	target, ok := f.database(n)
	for from, to := range f.Databases {
		ok = ok && (from == n || to != target)
	}
	return ok && f.Match == "" && f.Owns == nil
}

// reaches reports whether keys go to a database of the target.
func (f *Filter) reaches(target int) bool {
	if f.Databases == nil {
		return true
	}
	for _, to := range f.Databases {
		if to == target {
			return true
		}
	}
	return false
}

// owns reports whether a key is taken.
func (f *Filter) owns(key []byte) bool {
	return (f.Match == "" || glob.Match([]byte(f.Match), key, false)) && (f.Owns == nil || f.Owns(key))
}

// takes is owns, and counts what is left out.
func (f *Filter) takes(key []byte, s *Stats) bool {
	if f.Match != "" && !glob.Match([]byte(f.Match), key, false) {
		s.filtered.Add(1)
		return false
	}
	if f.Owns != nil && !f.Owns(key) {
		s.misplaced.Add(1)
		return false
	}
	return true
}
