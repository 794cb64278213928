package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
)

// findings are the failures of all runs. Its methods may be called from any goroutine.
type findings struct {
	mu  sync.Mutex
	all map[named]*finding
}

type named struct{ pkg, test string }

// A finding is a test that has failed at least once.
type finding struct {
	runs  []int
	seeds []string
	words string // of the first failure
	path  string // where the output of the first failure is
}

func (f *findings) add(pkg string, number int, path string, failures []failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = make(map[named]*finding)
	}
	for _, one := range failures {
		name := named{pkg, one.test}
		if f.all[name] == nil {
			f.all[name] = &finding{words: one.words, path: path}
		}
		f.all[name].runs = append(f.all[name].runs, number)
		if one.seed != "" {
			f.all[name].seeds = append(f.all[name].seeds, one.seed)
		}
	}
}

func (f *findings) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.all) > 0
}

func (f *findings) summary() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.all) == 0 {
		return "no test has failed"
	}
	return fmt.Sprintf("%d tests have failed", len(f.all))
}

// longestWords bounds a reason in the table, in bytes.
const longestWords = 160

func (f *findings) table(out io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.all) == 0 {
		fmt.Fprintln(out, "no test has failed")
		return
	}
	names := slices.SortedFunc(maps.Keys(f.all), func(a, b named) int {
		return cmp.Or(len(f.all[b].runs)-len(f.all[a].runs), cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.test, b.test))
	})
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "failed\tpackage\ttest\truns\tseeds\twhy")
	for _, name := range names {
		at := f.all[name]
		words := strings.ReplaceAll(at.words, "\t", " ")
		words = strings.ToValidUTF8(words[:min(len(words), longestWords)], "")
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", len(at.runs), name.pkg, name.test, some(at.runs), some(at.seeds), words)
	}
	_ = w.Flush() // out is standard output
}

// some is the first of a list.
func some[T any](list []T) string {
	const most = 5
	var text []string
	for _, one := range list[:min(len(list), most)] {
		text = append(text, fmt.Sprint(one))
	}
	if len(list) > most {
		text = append(text, "…")
	}
	if len(text) == 0 {
		return "-"
	}
	return strings.Join(text, " ")
}
