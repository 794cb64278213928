package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var ringsideVariable = regexp.MustCompile(`\bRINGSIDE_[A-Z_]*[A-Z]\b`)

// Every variable and every flag that a file for deployment gives the binary is a setting.
func TestDeployFilesNameOnlySettings(t *testing.T) {
	root := filepath.Join("..", "..")
	files := []string{"Dockerfile", "compose.yaml"}
	err := fs.WalkDir(os.DirFS(root), "deploy", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(name) != ".go" {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	serve, _, err := (&app{}).rootCommand().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range ringsideVariable.FindAllString(string(text), -1) {
			seen++
			if flag := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "RINGSIDE_")), "_", "-"); serve.Flags().Lookup(flag) == nil {
				t.Errorf("%s: there is no setting %s", file, name)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d variables were found", seen)
	}
}

// Without cgo, Pebble's memory would be on Go's heap, and a container would need twice as much.
func TestImageIsBuiltWithCgo(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	for build := range strings.SplitSeq(string(text), "\nRUN ") {
		if strings.Contains(build, "go build") && (!strings.Contains(build, "CGO_ENABLED=1") || !strings.Contains(build, "-extldflags -static")) {
			t.Errorf("not a static program with cgo:\n%s", build)
		}
	}
}
