package chaos

import (
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// The runtime imports nothing that imports it.
func TestSourcesForAClockThatCanBeSet(t *testing.T) {
	for name, test := range map[string]struct {
		text    string
		imports []string
	}{
		clockGo:          {clockRuntime, []string{"internal/runtime/atomic", "unsafe"}},
		"chaos_clock.go": {clockMain, []string{"os", "strconv", "strings", "sync/atomic", "time", "unsafe"}},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), name, test.text, parser.AllErrors)
		if err != nil {
			t.Error(err)
			continue
		}
		var imports []string
		for _, i := range f.Imports {
			imports = append(imports, strings.Trim(i.Path.Value, `"`))
		}
		if !slices.Equal(imports, test.imports) {
			t.Errorf("%s imports %v", name, imports)
		}
	}
}

func TestFaultsThatTheMachineAllows(t *testing.T) {
	all, err := kindsOf("", map[means]bool{networks: true, disks: true, clocks: true})
	if err != nil || len(all) != len(kinds) {
		t.Errorf("%v, %v", all, err)
	}
	few, err := kindsOf("", nil)
	if err != nil || slices.Contains(few, "cut") || slices.Contains(few, "slow disk") || slices.Contains(few, "clock") || !slices.Contains(few, "kill") {
		t.Errorf("%v, %v", few, err)
	}
	if two, err := kindsOf("kill, freeze", nil); err != nil || !slices.Equal(two, []string{"kill", "freeze"}) {
		t.Errorf("%v, %v", two, err)
	}
	for _, wrong := range []string{"fire", "kill,cut", "clock"} {
		if some, err := kindsOf(wrong, nil); err == nil {
			t.Errorf("%s: %v", wrong, some)
		}
	}
}

func TestLastLogLineSaysWhyNodeEnded(t *testing.T) {
	dir := t.TempDir()
	n := &node{id: "n1"}
	for text, want := range map[string]string{
		"":                      "",
		"one line":              "one line",
		"first\nstart failed\n": "start failed",
		strings.Repeat("x", 5<<10) + "\nstart failed\n": "start failed",
	} {
		if err := os.WriteFile(n.log(dir), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := n.lastLogLine(dir); got != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}
