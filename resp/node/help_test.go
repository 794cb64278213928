package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// forgetCluster makes a directory one that has never belonged to any cluster.
func forgetCluster(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"raft", belongingFile, "peers.json"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}
