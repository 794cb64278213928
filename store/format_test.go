package store

import (
	"errors"
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

// A directory without a key becomes one of another strategy and hash, if the configuration allows it. One with a key
// never does.
func TestOnlyEmptyDirectoryBecomesOneOfAnotherStrategy(t *testing.T) {
	cfg := testConfig(t.TempDir())
	reopen := func(strategy, hash string, replaceable bool) (*Store, error) {
		cfg.Strategy, cfg.Hash, cfg.Replaceable = strategy, hash, replaceable
		return Open(cfg)
	}
	for _, step := range []struct {
		strategy, hash string
		replaceable    bool
		want           error
	}{
		{"buckets", "native", true, nil},
		{"ketama", "native", false, ErrMismatch},
		{"ketama", "slot", true, nil},
		{"buckets", "native", false, ErrMismatch},
		{"ketama", "slot", false, nil},
	} {
		s, err := reopen(step.strategy, step.hash, step.replaceable)
		if !errors.Is(err, step.want) {
			t.Fatalf("%+v: %v", step, err)
		}
		if err == nil {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := reopen("ketama", "slot", false)
	if err != nil {
		t.Fatal(err)
	}
	s.set(t, "expired", "1", s.now()-1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reopen("buckets", "native", true); !errors.Is(err, ErrMismatch) {
		t.Errorf("with a key: %v", err)
	}
	if id, _, err := ReadIdentity(cfg.Dir); err != nil || id.Strategy != "ketama" || id.Hash != "slot" {
		t.Errorf("%+v, %v", id, err)
	}
}
