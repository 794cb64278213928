package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/resp/node"
)

// TestStateFileResumesOneRestoreIntoOneTarget restores again after the end, into a target that was emptied, and into
// another one.
func TestStateFileResumesOneRestoreIntoOneTarget(t *testing.T) {
	t.Parallel()
	_, source := startNode(t, func(*node.Config) {})
	_, first := startNode(t, func(*node.Config) {})
	_, second := startNode(t, func(*node.Config) {})
	const keys = 50
	for i := range keys {
		do(t, source, 0, fmt.Sprintf("SET key%d %d", i, i))
	}
	dir, state := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "state")
	m, err := Take(t.Context(), TakeConfig{Source: sourceOf(source), To: dir})
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]importer.Config{}
	restore := func(into string) error {
		cfg := targets[into]
		cfg.Stats = new(importer.Stats)
		_, err := Restore(t.Context(), RestoreConfig{From: dir, Import: cfg, State: state})
		return err
	}
	targets["first"], targets["second"] = importer.Config{Target: sourceOf(first)}, importer.Config{Target: sourceOf(second)}
	progress := func(format int, generation string) {
		t.Helper()
		text := fmt.Sprintf(`{"format":%d,"id":%q,"target":{"generation":%q},"done":%d,"offset":0}`, format, m.Moment.ID, generation, len(m.Files))
		if err := os.WriteFile(state, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	size := func(want int64) {
		t.Helper()
		for into, c := range map[string]any{"first": do(t, first, 0, "DBSIZE"), "second": do(t, second, 0, "DBSIZE")} {
			if into == "first" && c != want || into == "second" && c != int64(0) {
				t.Errorf("the %s target has %v keys", into, c)
			}
		}
	}
	if err := restore("first"); err != nil {
		t.Fatal(err)
	}
	size(keys)
	if _, err := os.Stat(state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the state file after the end: %v", err)
	}
	if err := restore("first"); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("once more: %v", err)
	}
	do(t, first, 0, "FLUSHALL")
	if err := restore("first"); err != nil {
		t.Error(err)
	}
	size(keys)
	// A run that was killed at its end, and then the target was emptied.
	progress(stateFormat, generationOf(t, first))
	do(t, first, 0, "FLUSHALL")
	if err := restore("first"); err != nil {
		t.Error(err)
	}
	size(keys)
	progress(stateFormat, generationOf(t, first))
	if err := restore("second"); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "it is of a restore into cluster") {
		t.Errorf("into another target: %v", err)
	}
	progress(1, "")
	if err := restore("second"); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "of an earlier version") {
		t.Errorf("with a file of an earlier version: %v", err)
	}
	size(keys)
}
