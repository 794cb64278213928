//go:build unix

package unixsocket

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// TestListenAndCloseEndWhileTheDirectoryIsLocked holds the lock as another user can who may read the directory.
func TestListenAndCloseEndWhileTheDirectoryIsLocked(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l, err := Listen(filepath.Join(dir.Name(), "s"), DefaultMode)
		if err != nil {
			t.Error(err)
			return
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	resptest.WaitFor(t, "Listen and Close to end", func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
	if names, err := filepath.Glob(filepath.Join(dir.Name(), "*")); err != nil || len(names) > 0 {
		t.Errorf("%v stays, %v", names, err)
	}
	_ = dir.Close()
}
