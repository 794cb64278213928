package main

import (
	"bufio"
	"io"
	"regexp"
	"slices"
	"strings"
)

// A failure is a test that did not hold in one run.
type failure struct {
	test  string
	seed  string // empty if the test has told none
	words string // the first line that says why
}

var (
	begins  = regexp.MustCompile(`^=== (RUN|NAME|CONT|PAUSE) +(\S+)`)
	results = regexp.MustCompile(`^ *--- (FAIL|PASS|SKIP): (\S+) \(`)
	seeds   = regexp.MustCompile(`\bseed[ =:]+(-?[0-9]+)`)
	logged  = regexp.MustCompile(`^ +[\w.-]+\.go:[0-9]+: `)
)

// wholeBinary is the name of a failure that no test has: a binary that ended by itself.
const wholeBinary = "(the test binary)"

// readOutput returns the failures that the output of a test binary under -test.v tells. A
// test with a failed subtest is left out: the subtest stands for it. A binary that fails
// without a failed test has one failure, named after the tests that were running.
func readOutput(r io.Reader, exit error) []failure {
	type told struct{ seed, words string }
	of := make(map[string]*told)
	at := func(test string) *told {
		if of[test] == nil {
			of[test] = new(told)
		}
		return of[test]
	}
	var running, failed []string
	current, alarm := "", ""
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := begins.FindStringSubmatch(line); m != nil {
			current = m[2]
			if m[1] == "RUN" {
				running = append(running, current)
			}
			continue
		}
		if m := results.FindStringSubmatch(line); m != nil {
			running = slices.DeleteFunc(running, func(test string) bool { return test == m[2] })
			if m[1] == "FAIL" {
				failed = append(failed, m[2])
			}
			current = m[2]
			continue
		}
		isAlarm := strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") || strings.HasPrefix(line, "WARNING: DATA RACE")
		if isAlarm && alarm == "" {
			alarm = line
		}
		t := at(current)
		if m := seeds.FindStringSubmatch(line); m != nil {
			t.seed = m[1]
		}
		text := strings.TrimSpace(line)
		if logged.MatchString(line) && seeds.FindString(line) == "" || isAlarm {
			if t.words == "" {
				t.words = text
			}
		}
	}
	failed = leaves(failed)
	var found []failure
	for _, test := range failed {
		f := failure{test: test, words: at(test).words}
		for up := test; up != "" && f.seed == ""; up = parent(up) {
			f.seed = at(up).seed
		}
		found = append(found, f)
	}
	if len(found) > 0 {
		return found
	}
	f := failure{test: wholeBinary, words: alarm}
	if running = leaves(running); len(running) > 0 {
		f.test = strings.Join(running, " ")
		f.seed = at(running[len(running)-1]).seed
	}
	if f.words == "" {
		f.words = exit.Error()
	}
	return []failure{f}
}

// leaves leaves out tests that have a subtest among the others.
func leaves(tests []string) []string {
	var kept []string
	for _, test := range tests {
		if !slices.ContainsFunc(tests, func(other string) bool { return strings.HasPrefix(other, test+"/") }) {
			kept = append(kept, test)
		}
	}
	return kept
}

func parent(test string) string {
	i := strings.LastIndexByte(test, '/')
	return test[:max(i, 0)]
}
