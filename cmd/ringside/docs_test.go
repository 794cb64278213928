package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// docs/configuration.md has every setting, with its default.
func TestDocsKnowEverySetting(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
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
					t.Errorf("%s: the default is %s, docs/configuration.md says %s", f.Name, f.DefValue, line)
				}
				return
			}
		}
		t.Errorf("%s is not in the table of docs/configuration.md", f.Name)
	})
}

// The table and the picture of docs/strategies.md are what the command beside them makes.
func TestDocsShowTheSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates")
	}
	const scenario = "add; remove; add 5; crash; weight 2"
	root := filepath.Join("..", "..")
	document, err := os.ReadFile(filepath.Join(root, "docs", "strategies.md"))
	if err != nil {
		t.Fatal(err)
	}
	if command := `ringside simulate --seed 1 --keys 200k --scenario "` + scenario + `"`; !strings.Contains(string(document), command) {
		t.Errorf("docs/strategies.md does not have %s", command)
	}
	picture := filepath.Join(t.TempDir(), "picture.svg")
	code, table, stderr := ringside(nil, "simulate", "--seed", "1", "--keys", "200k", "--scenario", scenario, "--markdown", "-", "--svg", picture)
	if code != 0 {
		t.Fatal(stderr)
	}
	if !strings.Contains(string(document), table) {
		t.Errorf("docs/strategies.md does not have this table:\n%s", table)
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

// The README stays short enough to be read in three minutes.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 150 {
		t.Errorf("README.md has %d lines, of at most 150: details belong in docs/", lines)
	}
}

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingSigns = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Each link of a document to a file, and to a heading in it, leads there.
func TestDocsLinksLeadToFilesAndHeadings(t *testing.T) {
	root := filepath.Join("..", "..")
	headings := func(file string) map[string]bool {
		text, _ := os.ReadFile(file)
		found := make(map[string]bool)
		for line := range strings.Lines(string(text)) {
			if heading := strings.TrimLeft(line, "#"); heading != line {
				plain := headingSigns.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
				found[strings.ReplaceAll(plain, " ", "-")] = true
			}
		}
		return found
	}
	documents := 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(file) != ".md":
			return nil
		}
		documents++
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, match := range markdownLink.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			name, anchor, _ := strings.Cut(match[1], "#")
			to := file
			if name != "" {
				to = filepath.Join(filepath.Dir(file), name)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", file, match[1], err)
			} else if anchor != "" && !headings(to)[anchor] {
				t.Errorf("%s links to %s, and there is no such heading", file, match[1])
			}
		}
		return nil
	})
	if err != nil || documents < 10 {
		t.Errorf("looked at %d documents: %v", documents, err)
	}
}

// docs/architecture.md names files and packages that exist.
func TestArchitectureNamesExistingFiles(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:cmd|resp|ring|buckets|replica|store|loadtest)/[a-zA-Z0-9_/.]+)`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 50 {
		t.Errorf("only %d files are named", len(named))
	}
	for _, match := range named {
		if _, err := os.Stat(filepath.Join(root, match[1])); err != nil {
			t.Errorf("docs/architecture.md names %s: %v", match[1], err)
		}
	}
}

// The algorithm that docs/strategies.md shows is the one that the example of package ring/cells runs.
func TestDocsShowTheAlgorithmOfTheExample(t *testing.T) {
	example, err := os.ReadFile(filepath.Join("..", "..", "ring", "cells", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "strategies.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(example), "// modulo is")
	code, _, ended := strings.Cut(code, "// An algorithm of your own")
	if !found || !ended || len(code) < 200 {
		t.Fatal("the example has no algorithm")
	}
	if !strings.Contains(string(docs), strings.TrimSpace(code)+"\n```\n") {
		t.Error("docs/strategies.md shows another algorithm than ring/cells/example_test.go")
	}
}
