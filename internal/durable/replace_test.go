package durable

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, contents := range []string{"longer than the next", "short", ""} {
		if err := Replace(path, []byte(contents)); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != contents {
			t.Errorf("%q, %v instead of %q", text, err, contents)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v beside the file", files, err)
	}
}

// Who cannot write the new file still has the old one.
func TestFailedReplaceKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := Replace(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+".new", 0o700); err != nil { // in the new one's place
		t.Fatal(err)
	}
	if err := Replace(path, []byte("new")); err == nil {
		t.Error("no word of a file that could not be written")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
		t.Errorf("%q, %v", text, err)
	}
}
