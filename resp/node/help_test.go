package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	waitFor(t, fmt.Sprintf("the log says %q", words), func() bool { return r.has(words...) })
}
