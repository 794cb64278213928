package table

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"

	"github.com/ringside-kv/ringside/replica/durable"
)

// Names in Config.Dir.
const (
	serverFile = "server-id"
	logFile    = "raft.db"
)

// keptSnapshots: the one before the last is a reserve.
const keptSnapshots = 2

// openTimeout is how long to wait for the lock of a directory that another process
// has not let go of.
const openTimeout = time.Second

// A disk is where Raft keeps what it must not forget.
type disk struct {
	server    string // the node's id in the group
	logs      raft.LogStore
	stable    raft.StableStore
	snapshots raft.SnapshotStore
	close     func() error
}

func openDisk(c *Config) (*disk, error) {
	if c.Dir == "" {
		m := raft.NewInmemStore()
		return &disk{uuid.NewString(), m, m, raft.NewInmemSnapshotStore(), func() error { return nil }}, nil
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	server, err := serverID(c.Dir)
	if err != nil {
		return nil, err
	}
	bolt, err := boltdb.New(boltdb.Options{
		Path:                    filepath.Join(c.Dir, logFile),
		BoltOptions:             &bbolt.Options{Timeout: openTimeout, FreelistType: bbolt.FreelistMapType},
		MsgpackUseNewTimeFormat: true,
	})
	if err != nil {
		return nil, fmt.Errorf("table: open the log in %s: %w", c.Dir, err)
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(c.Dir, keptSnapshots, newLogger(c.Logger))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("table: snapshots in %s: %w", c.Dir, err), bolt.Close())
	}
	return &disk{
		server: server, logs: &watched{bolt, c.StallTimeout, c.Stalled}, stable: &watchedStable{bolt, c.StallTimeout, c.Stalled},
		snapshots: snapshots, close: bolt.Close,
	}, nil
}

// serverID reads the id that the directory was given when it was made. It belongs to
// the log beside it: an id without its log could vote twice, so it is not used again,
// and a log without its id is refused.
func serverID(dir string) (string, error) {
	path := filepath.Join(dir, serverFile)
	_, noLog := os.Stat(filepath.Join(dir, logFile))
	text, err := readSmall(path)
	switch {
	case err == nil && errors.Is(noLog, os.ErrNotExist):
		// A first start that was cut short has not voted yet, but the id does not
		// say whether this was one.
		return writeServerID(path)
	case err == nil:
		id, err := uuid.Parse(strings.TrimSpace(text))
		if err != nil {
			return "", fmt.Errorf("table: %s: %w: %w", path, ErrMalformed, err)
		}
		return id.String(), nil
	case !errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("table: %w", err)
	case noLog == nil:
		return "", fmt.Errorf("table: %w: %s has a log, but no %s", ErrMalformed, dir, serverFile)
	}
	return writeServerID(path)
}

func readSmall(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, 1024))
	return string(text), errors.Join(err, f.Close())
}

// writeServerID makes a new id last before anyone may use it.
func writeServerID(path string) (string, error) {
	id := uuid.NewString()
	if err := durable.Replace(path, []byte(id+"\n")); err != nil {
		return "", fmt.Errorf("table: %w", err)
	}
	return id, nil
}

// watched says so when a write to the log takes too long: the leader's heartbeats do
// not depend on its disk, so nobody else would notice.
type watched struct {
	raft.LogStore
	limit   time.Duration
	stalled func()
}

func (w *watched) StoreLog(l *raft.Log) error {
	defer time.AfterFunc(w.limit, w.stalled).Stop()
	return w.LogStore.StoreLog(l)
}

func (w *watched) StoreLogs(l []*raft.Log) error {
	defer time.AfterFunc(w.limit, w.stalled).Stop()
	return w.LogStore.StoreLogs(l)
}

// watchedStable is watched for votes and terms.
type watchedStable struct {
	raft.StableStore
	limit   time.Duration
	stalled func()
}

func (w *watchedStable) Set(key, value []byte) error {
	defer time.AfterFunc(w.limit, w.stalled).Stop()
	return w.StableStore.Set(key, value)
}

func (w *watchedStable) SetUint64(key []byte, value uint64) error {
	defer time.AfterFunc(w.limit, w.stalled).Stop()
	return w.StableStore.SetUint64(key, value)
}
