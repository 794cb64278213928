package store

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/identity"
)

// A flipped bit in the file that says what a directory is either changes nothing or is found.
func TestFlippedBitsInIdentityAreNotBelieved(t *testing.T) {
	fs := vfs.NewMem()
	cfg := testConfig("/data/store")
	cfg.FS = fs
	s := openTest(t, cfg)
	if err := s.Assign("n1"); err != nil {
		t.Fatal(err)
	}
	want := s.Identity()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := fs.PathJoin(cfg.Dir, identity.File)
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range text {
		for bit := range 8 {
			flipped := slices.Clone(text)
			flipped[i] ^= 1 << bit
			f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
			if err == nil {
				_, err = f.Write(flipped)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			got, known, err := identity.Read(fs, cfg.Dir)
			switch {
			case err != nil && !strings.Contains(err.Error(), "restore it from a copy"):
				t.Errorf("bit %d of byte %d: the error does not say how to go on: %v", bit, i, err)
			case err == nil && (!known || got != want):
				t.Errorf("bit %d of byte %d is believed: %s", bit, i, flipped)
			}
		}
	}
}
