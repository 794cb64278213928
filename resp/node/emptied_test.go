package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/store"
)

// The table of the cluster that is left does not make an emptied store an empty one.
func TestNodeThatLostItsStoreIsRefused(t *testing.T) {
	dir := t.TempDir()
	n := openMemberIn(t, dir, "a")
	client := redistest.Client(&redis.Options{Addr: n.Addr().String()})
	err := client.Set(t.Context(), "key", "value", 0).Err()
	if err = errors.Join(err, client.Close(), n.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"data", "log", "log-marks"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	// An earlier version did not note in the store that it has been in use.
	changeIdentity(t, vfs.Default, dir, func(id *store.Identity) { id.Opened = false })
	n, err = Open(memberConfig(t, dir, "a"))
	if err == nil {
		t.Fatal("the node serves an empty store", n.Close())
	}
	for _, word := range []string{dir, "RING RECREATE", "copy"} {
		if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in %v", word, err)
		}
	}
}
