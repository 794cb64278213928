package importer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	. "github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// What is exported is loaded by Redis, of every version.
func TestRedisLoadsExportedFiles(t *testing.T) {
	server, cluster := startSource(t, "--enable-debug-command", "local"), startTarget(t)
	fill(t, server, rand.New(rand.NewPCG(31, 32)))
	if err := Load(context.Background(), bytes.NewReader(saved(t, server)), Config{Target: targetConfig(cluster)}); err != nil {
		t.Fatal(err)
	}
	do(t, cluster, "FUNCTION LOAD", "#!lua name=exported\nredis.register_function('f', function() return 7 end)")
	dir, err := server.ConfigGet(context.Background(), "dir").Result()
	if err != nil {
		t.Fatal(err)
	}
	for version := rdbfile.MinWriteVersion; version <= rdbfile.MaxWriteVersion; version++ {
		var file bytes.Buffer
		stats := new(Stats)
		scan := version%2 == 0
		m, err := Export(context.Background(), &file, ExportConfig{Source: targetConfig(cluster), Version: version, Scan: scan, Stats: stats})
		if err != nil || (m == nil) != scan {
			t.Fatal(m, err)
		}
		lost := 0
		if version < 10 {
			lost = 5 // streams, functions
		}
		if c := stats.Counts(); c.Lost != lost || c.Keys < 300 {
			t.Errorf("version %d: %+v", version, c)
		}
		if version > 10 { // this Redis does not load them
			file = rewritten(t, &file, 10)
		}
		if err := os.WriteFile(filepath.Join(dir["dir"], "dump.rdb"), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		do(t, server, "DEBUG RELOAD NOSAVE")
		if got, err := server.FCall(context.Background(), "f", nil).Result(); version == 10 && got != int64(7) {
			t.Errorf("the function returns %v, %v", got, err)
		}
		if lost == 0 {
			wantSame(t, cluster, server, 0, 0)
		}
		wantSame(t, cluster, server, 3, 3)
	}
}

// rewritten returns the keys of a file as one of another version.
func rewritten(t *testing.T, from *bytes.Buffer, version int) (file bytes.Buffer) {
	t.Helper()
	w, err := rdbfile.NewWriter(&file, version)
	if err != nil {
		t.Fatal(err)
	}
	r := rdbfile.NewReader(from, rdbfile.Config{})
	for {
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil && e.Kind == rdbfile.Key {
			err = w.Key(e.Database, e.Key, e.Payload, e.ExpireAt)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestExportChoosesKeysAndDatabases(t *testing.T) {
	cluster := startTarget(t)
	fill(t, cluster, rand.New(rand.NewPCG(33, 34)))
	var file bytes.Buffer
	for _, scan := range []bool{false, true} {
		file.Reset()
		cfg := ExportConfig{Source: targetConfig(cluster), Filter: Filter{Databases: map[int]int{3: 7}, Match: "str*"}, Scan: scan}
		if _, err := Export(context.Background(), &file, cfg); err != nil {
			t.Fatal(err)
		}
		keys := 0
		r := rdbfile.NewReader(&file, rdbfile.Config{})
		for e, err := r.Next(); err == nil; e, err = r.Next() {
			if e.Kind == rdbfile.Key {
				if keys++; string(e.Key) != "string1" || e.Database != 7 || e.ExpireAt == 0 {
					t.Errorf("%+v", e)
				}
			}
		}
		if keys != 1 {
			t.Errorf("%d keys", keys)
		}
	}
	if _, err := Export(context.Background(), &file, ExportConfig{Source: targetConfig(startSource(t))}); !errors.Is(err, ErrNotRingside) {
		t.Error(err)
	}
}
