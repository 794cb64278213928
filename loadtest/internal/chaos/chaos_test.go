package chaos

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSourcesWithHooksParse(t *testing.T) {
	for _, file := range hookFiles {
		f, err := parser.ParseFile(token.NewFileSet(), file.path, file.text, parser.AllErrors)
		if err != nil {
			t.Error(err)
			continue
		}
		var imports []string
		for _, i := range f.Imports {
			imports = append(imports, strings.Trim(i.Path.Value, `"`))
		}
		if slices.Sort(imports); !slices.Equal(imports, file.imports) {
			t.Errorf("%s imports %v", file.path, imports)
		}
	}
}

// The product's sources have a place for each hook. The standard library of another Go may have
// none: then the faults that need it are left out.
func TestSourcesHaveAPlaceForEachHook(t *testing.T) {
	for _, e := range hookEdits {
		if e.standard {
			continue
		}
		if _, err := e.apply(filepath.Join("..", "..", "..", e.path)); err != nil {
			t.Error(err)
		}
	}
}

func TestFaultsThatTheMachineAllows(t *testing.T) {
	all, err := kindsOf("", map[means]bool{networks: true, disks: true, hooking: true})
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
	for _, wrong := range []string{"fire", "kill,cut", "clock", "stuck table"} {
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
