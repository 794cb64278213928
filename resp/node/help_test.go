package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store"
)

// forgetCluster makes a directory one that has never belonged to any cluster.
func forgetCluster(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"raft", membershipFile, "peers.json"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	forgetName(t, vfs.Default, dir)
}

// forgetName makes a directory what versions left that did not store the name of the node.
// fs and data are where the node's store lies.
func forgetName(t *testing.T, fs vfs.FS, data string) { t.Helper(); storeName(t, fs, data, "") }

// forgetMembersName is forgetName for the directory of a node without data.
func forgetMembersName(t *testing.T, dir string) {
	t.Helper()
	b, err := loadMembership(dir, "ringside")
	if b.Node == "" {
		t.Errorf("%s holds no name", dir)
	}
	b.Node = ""
	if err = errors.Join(err, b.save(dir)); err != nil {
		t.Fatal(err)
	}
}

// storeName gives the directory of a store the name of another node.
func storeName(t *testing.T, fs vfs.FS, data, name string) {
	t.Helper()
	changeIdentity(t, fs, data, func(id *store.Identity) { id.Node = name })
}

// changeIdentity writes the identity of the directory of a store as earlier builds did,
// without a checksum.
func changeIdentity(t *testing.T, fs vfs.FS, data string, change func(id *store.Identity)) {
	t.Helper()
	path := fs.PathJoin(data, "RINGSIDE")
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	_ = f.Close()
	var id store.Identity
	if err == nil {
		err = json.Unmarshal(text, &id)
	}
	change(&id)
	if text, _ = json.Marshal(id); err != nil {
		t.Fatal(err)
	}
	f, err = fs.Create(path, "test")
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// records keeps what a logger is told.
type records struct {
	mu    sync.Mutex
	texts []string
}

func newRecords() *records { return new(records) }

func (r *records) Enabled(context.Context, slog.Level) bool { return true }
func (r *records) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *records) WithGroup(string) slog.Handler            { return r }
func (r *records) Handle(_ context.Context, rec slog.Record) error {
	text := rec.Message
	rec.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, text)
	return nil
}

func (r *records) has(words ...string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.texts, func(text string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	})
}

func (r *records) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.texts, "\n")
}

// await waits for a line with all of the words.
func (r *records) await(t *testing.T, words ...string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Log(r.all())
		}
	}()
	resptest.WaitFor(t, fmt.Sprintf("the log says %q", words), func() bool { return r.has(words...) })
}
