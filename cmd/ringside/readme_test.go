package main

import (
	"os"
	"path/filepath"
	"runtime"
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

// The table and the picture of "Which strategy?" are what the command beside them
// makes of today's code.
func TestReadmeShowsTheSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates")
	}
	const scenario = "add; remove; add 5; crash; weight 2"
	root := filepath.Join("..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if command := `ringside simulate --seed 1 --keys 200k --scenario "` + scenario + `"`; !strings.Contains(string(readme), command) {
		t.Errorf("the README does not say %s", command)
	}
	picture := filepath.Join(t.TempDir(), "picture.svg")
	code, table, stderr := ringside(nil, "simulate", "--seed", "1", "--keys", "200k", "--scenario", scenario, "--markdown", "-", "--svg", picture)
	if code != 0 {
		t.Fatal(stderr)
	}
	if !strings.Contains(string(readme), table) {
		t.Errorf("the README does not have this table:\n%s", table)
	}
	if runtime.GOARCH != "amd64" {
		return // others may round the last digit of a coordinate differently
	}
	shown, err := os.ReadFile(filepath.Join(root, "loadtest", "sim", "strategies.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if drawn, err := os.ReadFile(picture); err != nil || string(drawn) != string(shown) {
		t.Errorf("loadtest/sim/strategies.svg is not what the command draws (%v)", err)
	}
}
