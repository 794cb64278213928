package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadOutputNamesFailedTestsWithTheirSeeds(t *testing.T) {
	exit := errors.New("exit status 1")
	for _, tt := range []struct {
		name, output string
		want         []failure
	}{
		{"one test", `=== RUN   TestA
    a_test.go:3: seed 17
    a_test.go:5: got 1, want 2
--- FAIL: TestA (0.00s)
=== RUN   TestB
    b_test.go:3: seed 18
--- PASS: TestB (0.00s)
FAIL
`, []failure{{"TestA", "17", "a_test.go:5: got 1, want 2"}}},
		{"a subtest with its parent's seed", `=== RUN   TestA
    a_test.go:3: seed=5
=== RUN   TestA/x
    a_test.go:9: lost a
--- FAIL: TestA (0.00s)
    --- FAIL: TestA/x (0.00s)
    --- PASS: TestA/y (0.00s)
`, []failure{{"TestA/x", "5", "a_test.go:9: lost a"}}},
		{"tests side by side", `=== RUN   TestA
=== PAUSE TestA
=== RUN   TestB
=== PAUSE TestB
=== CONT  TestA
=== CONT  TestB
=== NAME  TestA
    a_test.go:1: wrong
=== NAME  TestB
    b_test.go:1: fine
--- PASS: TestB (0.00s)
--- FAIL: TestA (0.00s)
`, []failure{{"TestA", "", "a_test.go:1: wrong"}}},
		{"a panic", `=== RUN   TestA
--- PASS: TestA (0.00s)
=== RUN   TestB
    b_test.go:1: seed 3
panic: nil map

goroutine 1 [running]:
`, []failure{{"TestB", "3", "panic: nil map"}}},
		{"no test", "goleak: Errors on successful test run\n", []failure{{wholeBinary, "", "exit status 1"}}},
	} {
		if got := readOutput(strings.NewReader(tt.output), exit); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// A module whose one test fails in every second run.
func TestFlakyTestIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module flaky\n",
		"a_test.go": `package flaky

import ("os"; "testing")

func TestHolds(t *testing.T) {}

func TestEverySecondRun(t *testing.T) {
	t.Log("seed 42")
	if os.Remove("mark") != nil {
		os.WriteFile("mark", nil, 0o600)
		return
	}
	t.Error("the mark was there")
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("TMPDIR", t.TempDir())
	var out strings.Builder
	failed, err := run(t.Context(), &options{runs: 4, packages: "./...", load: 1, atOnce: 1, timeout: killAfter}, &out)
	if err != nil || !failed {
		t.Fatalf("failed %v, %v\n%s", failed, err, out.String())
	}
	if line := "2  flaky  TestEverySecondRun  2 4  42 42  a_test.go:13: the mark was there\n"; !strings.Contains(strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(line), " ")) {
		t.Errorf("%q is not in\n%s", line, out.String())
	}
	out.Reset()
	failed, err = run(t.Context(), &options{runs: 2, packages: "./...", pattern: "Holds", atOnce: 1, timeout: killAfter}, &out)
	if err != nil || failed || !strings.Contains(out.String(), "no test has failed") {
		t.Errorf("failed %v, %v\n%s", failed, err, out.String())
	}
}

func TestOptionsAreChecked(t *testing.T) {
	good := options{runs: 1, packages: "./...", atOnce: 1, timeout: killAfter}
	if err := good.validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*options){
		"runs": func(o *options) { o.runs = 0 }, "packages": func(o *options) { o.packages = " ," },
		"load": func(o *options) { o.load = -1 }, "at once": func(o *options) { o.atOnce = 0 },
		"timeout": func(o *options) { o.timeout = 0 },
	} {
		bad := good
		change(&bad)
		if bad.validate() == nil {
			t.Errorf("%s is not checked", name)
		}
	}
}
