package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ringside-kv/ringside/buckets"
)

// A store in memory serves like any other and leaves nothing on the disk.
func TestStoreInMemoryLeavesNoFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	s, err := Open(Config{Dir: dir, Strategy: "buckets", Hash: "native", Token: buckets.Token, InMemory: true, MemTable: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if s.Keys() != 0 || s.Writable() != nil {
		t.Errorf("%d keys, %v", s.Keys(), s.Writable())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is there: %v", dir, err)
	}
}

func TestExistsFindsStoreInDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []bool{false, true} {
		if is, err := Exists(dir); is != want || err != nil {
			t.Errorf("%v, %v, want %v", is, err, want)
		}
		s, err := Open(Config{Dir: dir, Strategy: "buckets", Hash: "native", Token: buckets.Token})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
