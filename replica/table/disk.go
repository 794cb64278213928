package table

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"

	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/replica/table/internal/checked"
	"github.com/ringside-kv/ringside/replica/table/internal/highwater"
)

// Names in Config.Dir.
const (
	serverFile = "server-id"
	logFile    = "raft.db"
	// snapshotsDir is the library's name.
	snapshotsDir = "snapshots"
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
	starts    *startRegistry
	close     func() error
}

// openDisk opens the directory of a node's table, or creates it. A directory of an earlier
// build gets its checksums.
func openDisk(c *Config) (*disk, error) {
	if c.Dir == "" {
		m := raft.NewInmemStore()
		return &disk{uuid.NewString(), m, m, raft.NewInmemSnapshotStore(), new(startRegistry), func() error { return nil }}, nil
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	id, err := beginServer(c.Dir)
	if err != nil {
		return nil, err
	}
	f, err := openFiles(c, id.stage)
	if err != nil {
		return nil, err
	}
	reached, err := f.check(filepath.Join(c.Dir, highwater.FileName))
	if err == nil {
		f.mark, err = highwater.Open(filepath.Join(c.Dir, highwater.FileName), reached)
	}
	if err == nil && id.stage != stageChecked {
		f.logs.Mark, f.stable.Mark = f.mark, f.mark
		err = errors.Join(f.logs.SealAll(), f.stable.TakeOver())
		if err == nil {
			err = writeServer(c.Dir, serverFileText{id.server, stageChecked})
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	f.logs.Unsealed = false
	f.logs.Mark, f.stable.Mark, f.snapshots.mark = f.mark, f.mark, f.mark
	return &disk{
		server: id.server, logs: f.logs, stable: f.stable, snapshots: f.snapshots, starts: &f.starts, close: f.close,
	}, nil
}

// files are the open files of a table.
type files struct {
	bolt      *boltdb.BoltStore
	logs      *checked.Log
	stable    *checked.Stable
	snapshots *checkedSnapshots
	mark      *highwater.File
	starts    startRegistry // that check has found in the log
}

// openFiles opens the files without changing what they say. It writes no mark.
func openFiles(c *Config, stage serverStage) (*files, error) {
	path := filepath.Join(c.Dir, logFile)
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		if err := checkFile(path); err != nil {
			return nil, err
		}
	} else if stage == stageChecked {
		return nil, checked.Damaged(path, "it is missing or empty")
	}
	f := &files{}
	err := checked.Guard(path, func() (err error) {
		f.bolt, err = boltdb.New(boltdb.Options{
			Path:                    path,
			BoltOptions:             &bbolt.Options{Timeout: openTimeout, FreelistType: bbolt.FreelistMapType},
			MsgpackUseNewTimeFormat: true,
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("table: open the log in %s: %w", c.Dir, err)
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(c.Dir, keptSnapshots, newLogger(c.Logger))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("table: snapshots in %s: %w", c.Dir, err), f.bolt.Close())
	}
	f.logs = &checked.Log{Path: path, Bolt: f.bolt, Unsealed: stage != stageChecked}
	f.stable = &checked.Stable{Path: path, Bolt: f.bolt}
	f.snapshots = &checkedSnapshots{SnapshotStore: snapshots, dir: filepath.Join(c.Dir, snapshotsDir)}
	if stage == stageChecked {
		if err := f.stable.Load(); err != nil {
			return nil, errors.Join(err, f.close())
		}
	}
	return f, nil
}

// check reads everything. It returns how far the files have come, and an error if they
// hold less than they did.
func (f *files) check(highWaterPath string) (highwater.Progress, error) {
	var now highwater.Progress
	least, err := highwater.Read(highWaterPath)
	if err != nil {
		return now, err
	}
	snapshots, err := f.snapshots.List()
	if err != nil {
		return now, err
	}
	if len(snapshots) > 0 {
		now.Snapshot = snapshots[0].Index
	}
	first, last, err := f.logs.Entries(func(entry *raft.Log) error {
		f.starts.note(entry)
		return nil
	})
	if err != nil {
		return now, err
	}
	now.Index, now.Changes = last, f.stable.Changes()
	switch {
	case now.Snapshot < least.Snapshot:
		return now, checked.Damaged(f.snapshots.dir, "the newest snapshot is of entry %d, one of entry %d was there", now.Snapshot, least.Snapshot)
	case first > now.Snapshot+1:
		return now, checked.Damaged(f.snapshots.dir, "no snapshot leads to the first entry of the log, %d", first)
	case now.Index < least.Index:
		return now, checked.Damaged(f.logs.Path, "the last entry is %d, entry %d was there", now.Index, least.Index)
	case now.Changes < least.Changes:
		return now, checked.Damaged(f.logs.Path, "the terms and votes are of an earlier moment")
	}
	return now, nil
}

func (f *files) close() error { return errors.Join(f.bolt.Close(), f.mark.Close()) }

// A serverStage says what the log beside a server's id is.
type serverStage string

const (
	// stageCreating: it may not be there yet, and nothing was written to it.
	stageCreating serverStage = "creating"
	// stageOld: it is of an earlier build, and has no checksums.
	stageOld serverStage = ""
	// stageUpgrading: it gets its checksums.
	stageUpgrading serverStage = "upgrading"
	// stageChecked: it is there, and has checksums.
	stageChecked serverStage = "checked"
)

// serverFileText is what the file with the server's id says. It is one line: the id, the
// stage and a checksum of both. Earlier builds wrote the id alone, and refuse more than that.
type serverFileText struct {
	server string
	stage  serverStage
}

func (t serverFileText) String() string {
	said := t.server + " " + string(t.stage)
	return fmt.Sprintf("%s %08x\n", said, crc32.Checksum([]byte(said), checked.Castagnoli))
}

func parseServer(text string) (t serverFileText, ok bool) {
	words := strings.Fields(text)
	if len(words) != 1 && len(words) != 3 {
		return t, false
	}
	id, err := uuid.Parse(words[0])
	if err != nil {
		return t, false
	}
	if t.server = id.String(); len(words) == 1 {
		return t, true
	}
	t.stage = serverStage(words[1])
	return t, t.String() == text
}

// beginServer reads the id that the directory was given when it was made. It belongs to
// the log beside it: an id without its log could vote twice, so it is not used again,
// and a log without its id is refused. Until the log is complete, the stage says so.
func beginServer(dir string) (serverFileText, error) {
	var none serverFileText
	path, log := filepath.Join(dir, serverFile), filepath.Join(dir, logFile)
	_, noLog := os.Stat(log)
	id, err := readServer(path)
	switch {
	case err == nil && id.stage == stageChecked, err == nil && id.stage == stageUpgrading:
		return id, nil
	case err == nil && (id.stage == stageCreating || errors.Is(noLog, os.ErrNotExist)):
		// A first start that was cut short has not voted yet, but the id of an
		// earlier build does not say whether this was one.
		if old, _ := os.ReadDir(filepath.Join(dir, snapshotsDir)); id.stage == stageOld && len(old) > 0 {
			return none, checked.Damaged(log, "it is missing, and there are snapshots")
		}
		for _, path := range []string{log, filepath.Join(dir, highwater.FileName)} {
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return none, fmt.Errorf("table: %w", err)
			}
		}
	case err == nil:
		id.stage = stageUpgrading
		return id, writeServer(dir, id)
	case !errors.Is(err, os.ErrNotExist):
		return none, err
	case noLog == nil:
		return none, checked.Damaged(path, "it is missing, and there is a log")
	}
	id = serverFileText{uuid.NewString(), stageCreating}
	return id, writeServer(dir, id)
}

func readServer(path string) (serverFileText, error) {
	text, err := readSmall(path)
	if errors.Is(err, os.ErrNotExist) {
		return serverFileText{}, err
	}
	if err != nil {
		return serverFileText{}, fmt.Errorf("table: %w", err)
	}
	id, ok := parseServer(text)
	if !ok {
		return id, checked.Damaged(path, "%q is no id of a server", text)
	}
	return id, nil
}

// writeServer makes an id, or its next stage, last before anyone may use it.
func writeServer(dir string, id serverFileText) error {
	if err := durable.Replace(filepath.Join(dir, serverFile), []byte(id.String())); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return nil
}

func readSmall(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, 1024))
	return string(text), errors.Join(err, f.Close())
}
