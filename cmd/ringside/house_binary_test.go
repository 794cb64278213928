package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Templates of the standard library call methods by a name that is known only when they run. A
// binary with one such call contains all methods of all types, and is half as large again: look
// for <ReflectMethod> in the output of go build -ldflags=-dumpdep.
func TestHouseBinaryHasNoTemplates(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector")
	}
	root := os.DirFS(filepath.Join("..", ".."))
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		for _, word := range []string{`"text/template"`, `"html/template"`, "SetVersionTemplate(", "SetUsageTemplate(", "SetHelpTemplate(", ".MethodByName("} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s has %s", name, word)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// These import templates and do not run them here.
	known := []string{"github.com/hashicorp/go-msgpack/v2/codec", "github.com/spf13/cobra", "html/template", "net/rpc", "text/template"}
	const format = `{{$p := .ImportPath}}{{range .Imports}}{{if or (eq . "text/template") (eq . "html/template")}}{{$p}}{{"\n"}}{{end}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", format, ".").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	for _, name := range strings.Fields(string(out)) {
		if !slices.Contains(known, name) {
			t.Errorf("%s imports a package of templates: does it run them?", name)
		}
	}
}
