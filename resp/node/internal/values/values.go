package values

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/replica/table"
)

// fileName is the file of the values that the node knew last. A node that starts goes by them until it has
// heard of the cluster, so that no one is let in meanwhile who was shut out before.
const fileName = "agreed.json"

// A Keeper works for one node. Its fields are set once.
type Keeper struct {
	Table *table.Table
	// Tell is told the values as of an index of the table of a cluster.
	Tell   func(values *agreed.Values, generation, index uint64)
	Dir    string
	Logger *slog.Logger

	last kept
}

// kept is what the file holds.
type kept struct {
	Generation uint64         `json:"generation,string"`
	Index      uint64         `json:"index,string"`
	Values     []agreed.Value `json:"values"`
	values     *agreed.Values
}

// Open tells the values of the last start.
func (k *Keeper) Open() error {
	last, err := read(k.Dir)
	if err != nil {
		return err
	}
	if last != nil {
		k.last = *last
		k.Tell(last.values, last.Generation, last.Index)
	}
	k.look()
	return nil
}

// Stored returns the values that a directory keeps for the next start of its node, nil if none.
func Stored(dir string) (*agreed.Values, error) {
	last, err := read(dir)
	if last == nil {
		return nil, err
	}
	return last.values, nil
}

// read reads the file of a directory; it returns nil if there is none.
func read(dir string) (*kept, error) {
	var k kept
	text, err := os.ReadFile(filepath.Join(dir, fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = durable.Unseal(text, &k)
	}
	if err == nil {
		k.values, err = agreed.New(k.Values)
	}
	if err != nil {
		return nil, fmt.Errorf("read of the agreed values: %w", err)
	}
	return &k, nil
}

// Run tells of changes until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	changes, end := k.Table.Changes()
	defer end()
	for {
		k.look()
		select {
		case <-changes:
		case <-ctx.Done():
			return
		}
	}
}

// look tells the present values, and keeps them if they have changed.
func (k *Keeper) look() {
	st := k.Table.State()
	if !st.Founded() {
		return
	}
	now := kept{Generation: st.Cluster().Generation, Index: st.Index(), Values: st.Values().All(), values: st.Values()}
	if now.Generation == k.last.Generation && now.Index < k.last.Index {
		return // the table is being read from the disk
	}
	if now.values != k.last.values && (now.values != nil || k.last.values != nil) {
		if err := durable.ReplaceJSON(filepath.Join(k.Dir, fileName), &now); err != nil {
			k.Logger.Error("keeping the agreed values for the next start failed", "err", err)
		}
	}
	k.last = now
	k.Tell(now.values, now.Generation, now.Index)
}
