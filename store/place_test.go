package store

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/identity"
	"github.com/ringside-kv/ringside/store/internal/wal"
)

// createdIn creates a store with one key in a directory and closes it.
func createdIn(t *testing.T, dir string) {
	t.Helper()
	s := openTest(t, testConfig(dir))
	s.set(t, "a", "1", 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// checkKept opens a store and looks for the key of createdIn.
func checkKept(t *testing.T, dir string) {
	t.Helper()
	s := openTest(t, testConfig(dir))
	if v, _ := s.get(t, "a"); v != "1" {
		t.Errorf("%s: a = %q", dir, v)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// storedPath returns the directory of logs that Pebble's options name.
func storedPath(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "data", "OPTIONS-*"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	text, err := os.ReadFile(names[len(names)-1])
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "wal_dir=")
	path, _, _ := strings.Cut(after, "\n")
	return path
}

// asOfVersion1 makes a directory what version 1 of the format left: the options name the
// directory of logs as it was spelled.
func asOfVersion1(t *testing.T, dir, spelling string) {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, "data", "OPTIONS-*"))
	for _, name := range names {
		replaceIn(t, name, "wal_dir="+storedPath(t, dir), "wal_dir="+filepath.Join(spelling, "log"))
	}
	changeIdentity(t, dir, func(id *Identity) { id.Format = identity.OldVersion })
}

// changeIdentity writes the identity of a directory as earlier builds did, without a checksum.
func changeIdentity(t *testing.T, dir string, change func(id *Identity)) {
	t.Helper()
	id, known, err := identity.Read(vfs.Default, dir)
	if err != nil || !known {
		t.Fatal(known, err)
	}
	change(&id)
	text, err := json.MarshalIndent(id, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, identity.File), append(text, '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func replaceIn(t *testing.T, path, from, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestDirectoryOpensAtAnotherPath(t *testing.T) {
	move := func(t *testing.T, dir string) string {
		to := dir + "-moved"
		if err := os.Rename(dir, to); err != nil {
			t.Fatal(err)
		}
		return to
	}
	for _, test := range []struct {
		name string
		then func(t *testing.T, dir string) string
	}{
		{"renamed", move},
		{"copied", func(t *testing.T, dir string) string {
			to := dir + "-copied"
			if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			return to
		}},
		{"relative", func(t *testing.T, dir string) string {
			t.Chdir(filepath.Dir(dir))
			return "./" + filepath.Base(dir)
		}},
		{"another working directory", func(t *testing.T, dir string) string {
			t.Chdir(dir)
			return "../" + filepath.Base(dir)
		}},
		{"version 1, renamed", func(t *testing.T, dir string) string {
			asOfVersion1(t, dir, dir)
			return move(t, dir)
		}},
		{"version 1, relative", func(t *testing.T, dir string) string {
			asOfVersion1(t, dir, filepath.Base(dir))
			return dir
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			createdIn(t, dir)
			dir = test.then(t, dir)
			checkKept(t, dir)
			checkKept(t, dir)
			if path := storedPath(t, dir); strings.Contains(path, "/d") {
				t.Errorf("the options name a path: %q", path)
			}
			if id, _, err := identity.Read(vfs.Default, dir); err != nil || id.Format != FormatVersion {
				t.Errorf("%+v, %v", id, err)
			}
		})
	}
}

// A copy does not read the logs of its original, which its options may name.
func TestCopyDoesNotReadLogsOfOriginal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	createdIn(t, dir)
	asOfVersion1(t, dir, dir)
	to := dir + "-copied"
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, testConfig(dir))
	s.set(t, "a", "2", 0)
	s.Crash()
	if err := s.Close(); err != nil && !errors.Is(err, ErrCrashed) {
		t.Fatal(err)
	}
	checkKept(t, to)
}

func TestDirectoryWithLinkedDataOpens(t *testing.T) {
	dir, elsewhere := filepath.Join(t.TempDir(), "d"), t.TempDir()
	createdIn(t, dir)
	if err := os.Rename(filepath.Join(dir, "data"), filepath.Join(elsewhere, "tables")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(elsewhere, "tables"), filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	checkKept(t, dir)
	if _, err := os.Stat(filepath.Join(elsewhere, "log")); err == nil {
		t.Error("the logs lie beside what the link names")
	}
}

// A store that has lost its files is refused, not served as an empty one.
func TestStoreWithoutItsFilesIsRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		old  bool // the directory is one of version 1, and Config.Used tells that it was in use
		lost []string
	}{
		{"tables and logs", false, []string{"data", "log"}},
		{"all but the identity", false, []string{"data", "log", wal.MarksName}},
		{"tables", false, []string{"data"}},
		{"logs", false, []string{"log"}},
		{"version 1", true, []string{"data", "log", wal.MarksName}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			createdIn(t, dir)
			cfg := testConfig(dir)
			if cfg.Used = test.old; test.old {
				asOfVersion1(t, dir, dir)
				changeIdentity(t, dir, func(id *Identity) { id.Opened = false })
			}
			for _, name := range test.lost {
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				s, err := Open(cfg)
				if err == nil {
					v, ok := s.get(t, "a")
					t.Fatalf("opened, with a = %q, %v; %v", v, ok, s.Close())
				}
				if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "copy") {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// A first start that ended before there was a database has lost nothing.
func TestStoreWithoutDatabaseYetOpens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	createdIn(t, dir)
	for _, name := range []string{"data", "log", wal.MarksName} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	changeIdentity(t, dir, func(id *Identity) { id.Opened = false })
	if err := openTest(t, testConfig(dir)).Close(); err != nil {
		t.Fatal(err)
	}
}
