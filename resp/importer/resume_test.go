package importer_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	. "github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/store/rdb"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

func TestLoadResumesAtCheckpoint(t *testing.T) {
	defer func(was int64) { *CheckpointBytes = was }(*CheckpointBytes)
	*CheckpointBytes = 4 << 10
	var file bytes.Buffer
	w, err := rdbfile.NewWriter(&file, rdbfile.MaxWriteVersion)
	if err != nil {
		t.Fatal(err)
	}
	const keys = 1000
	for i := range keys {
		if err := w.Key(0, fmt.Append(nil, "key", i), rdb.AppendString(nil, fmt.Append(nil, i)), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	target := startTarget(t)
	stop := errors.New("stop")
	var at int64
	cfg := Config{Target: targetConfig(target), Stats: new(Stats), Checkpoint: func(offset int64) error {
		if at > 0 {
			return stop
		}
		at = offset
		return nil
	}}
	if err := Load(t.Context(), bytes.NewReader(file.Bytes()), cfg); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	cfg.Resume, cfg.Stats, cfg.Checkpoint = at, new(Stats), nil
	if err := Load(t.Context(), bytes.NewReader(file.Bytes()), cfg); err != nil {
		t.Fatal(err)
	}
	if n := cfg.Stats.Counts().Keys; n == 0 || n > keys-100 {
		t.Errorf("the second run wrote %d keys", n)
	}
	for i := range keys {
		if v := do(t, target, fmt.Sprint("GET key", i)); v != fmt.Sprint(i) {
			t.Fatalf("key%d is %v", i, v)
		}
	}
}
