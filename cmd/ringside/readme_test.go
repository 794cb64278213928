package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Every setting stands in the README's table, with its default.
func TestReadmeKnowsEverySetting(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	(&app{}).serveCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Name == "print-config" {
			return
		}
		for _, line := range strings.Split(string(text), "\n") {
			if name, _, ok := strings.Cut(line, " | "); ok && strings.Contains(name, "`"+f.Name+"`") {
				if f.DefValue != "" && !strings.Contains(line, " | `"+f.DefValue+"` | ") {
					t.Errorf("%s: the default is %s, the README says %s", f.Name, f.DefValue, line)
				}
				return
			}
		}
		t.Errorf("%s is not in the README's table", f.Name)
	})
}
