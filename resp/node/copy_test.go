//go:build linux

package node

import (
	"errors"
	"github.com/ringside-kv/ringside/internal/machine"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// copyOf copies the directory of a node that has no command under way.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	copyDir(t, to, dir)
	return to
}

func TestCopyIsRefusedWhileOriginalAnswers(t *testing.T) {
	defer goneInTheEnd(t)
	dir := t.TempDir()
	n := openMemberIn(t, dir, "a")
	<-n.cluster.entry.enteredCh
	to := copyOf(t, dir)
	for range 2 { // a refused start does not make the copy an original
		other, err := Open(memberConfig(t, to, "a"))
		if err == nil {
			t.Fatal("the copy runs beside its original", other.Close())
		}
		for _, word := range []string{to, n.cluster.advertisedBus, "stop it"} {
			if !errors.Is(err, ErrCopy) || !strings.Contains(err.Error(), word) {
				t.Errorf("%q is not in %v", word, err)
			}
		}
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	other := openMemberIn(t, copyOf(t, dir), "a") // after a clean stop
	<-other.cluster.entry.enteredCh
	if other.run.Lost || other.run.Copied {
		t.Errorf("%+v", other.run)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestPlaceIsKeptByRenamesAndNotByCopies(t *testing.T) {
	dir := t.TempDir()
	at := func(dir string) string { return machine.FileIdentity(filepath.Join(dir, "file")) }
	first, moved := filepath.Join(dir, "first"), filepath.Join(dir, "moved")
	if err := os.Mkdir(first, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(first, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	was := at(first)
	copied := copyOf(t, first)
	if err := os.Rename(first, moved); err != nil {
		t.Fatal(err)
	}
	if was == "" || at(moved) != was || at(copied) == was || at(first) != "" {
		t.Errorf("%q, moved %q, copied %q", was, at(moved), at(copied))
	}
	if strings.Count(was, "/") == 2 && !machine.IsFileCopy(was, at(copied)) || machine.IsFileCopy(was, at(moved)) {
		t.Errorf("%q, moved %q, copied %q", was, at(moved), at(copied))
	}
	_, rest, _ := strings.Cut(was, "/")
	if machine.IsFileCopy(was, "99:99/"+rest) || machine.IsFileCopy("1:1/2", "1:1/3") || machine.IsFileCopy("", was) {
		t.Error("a device that is numbered anew makes no copy")
	}
}
