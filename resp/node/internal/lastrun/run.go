package lastrun

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/internal/machine"
	"github.com/ringside-kv/ringside/store"
)

const (
	// File is the name of the file in the directory of a node.
	File = "run.json"
	// Format is the format of the file that this build reads and writes.
	Format = 1
	// maxFile bounds the size of the file that is read.
	maxFile = 4 << 10
	// incarnationSpread bounds the random part of the number of a start, in nanoseconds.
	incarnationSpread = 1 << 20
)

// A Run is what a directory remembers of the last start of its node: whether the next
// one can say that it has all that was acknowledged.
type Run struct {
	Format int `json:"format"`
	// Incarnation is the number of this start: the time at which it began, in nanoseconds
	// since 1970, or more if the clock was set back since an earlier one.
	Incarnation uint64 `json:"incarnation,string"`
	// Boot is of the machine, from one start of it to the next; empty if it is not known.
	Boot  string `json:"boot"`
	Fsync string `json:"fsync"`
	// Stopped reports that the node was stopped after everything was made durable.
	Stopped bool `json:"stopped"`
	// Registered is the last incarnation that the cluster knows of; 0 if it knows none.
	// If it knows a later one, the directory is an old copy.
	Registered uint64 `json:"registered,string"`
	// Lost reports that something may have been lost since then.
	Lost bool `json:"lost"`
	// Place is where the directory lies: a copy has another one. Empty if it is not known.
	Place string `json:"place,omitempty"`
	// Copied reports that the directory is a copy that has not been registered yet: its original
	// may be running.
	Copied bool `json:"copied,omitempty"`
	// Apart reports that the directory is certainly a copy, made file by file, and has not been
	// registered yet. Place alone may change when a file system numbers its files again.
	Apart bool `json:"apart,omitempty"`
	// Bus is the address where other nodes reach the node, or, as long as Copied holds, its
	// original.
	Bus string `json:"bus,omitempty"`
}

// Conditions are what a start finds around it.
type Conditions struct {
	Boot  string // id of this start of the machine
	Place string // see Run.Place
	// LogFailed reports that the store's log had failed when the last process ended.
	LogFailed bool
}

// CopiedTo reports whether the directory at a place is a copy of the one of the run.
func (r *Run) CopiedTo(place string) bool {
	return r.Place != "" && place != "" && r.Place != place
}

// Survived reports whether all writes that the run had acknowledged are present at the next start:
// the system lost nothing, or the disk had everything. A copy has everything only if it was made
// after a clean stop.
//
// In mode everysec a failed fsync of the log may take back acknowledged writes. In mode always no
// write is acknowledged before its fsync. After a clean stop the log is known to be whole.
func (r *Run) Survived(around Conditions) bool {
	if r.CopiedTo(around.Place) {
		return r.Stopped
	}
	switch store.Fsync(r.Fsync) {
	case store.FsyncAlways:
		return true
	case store.FsyncEverySec:
		return r.Stopped || r.Boot != "" && r.Boot == around.Boot && !around.LogFailed
	}
	return r.Stopped
}

// Next is the run that begins now. A directory that has seen none is new, or its run was
// not recorded, and proves nothing.
func (r *Run) Next(now time.Time, around Conditions, fsync store.Fsync) Run {
	return Run{
		Format: Format, Incarnation: r.NextIncarnation(now), Boot: around.Boot, Fsync: string(fsync),
		Registered: r.Registered, Lost: r.Lost || r.Registered == 0 || !r.Survived(around),
		Place: around.Place, Copied: r.Copied || r.CopiedTo(around.Place), Apart: r.Apart || machine.IsFileCopy(r.Place, around.Place), Bus: r.Bus,
	}
}

// Abstains reports whether the start must not vote before it is registered: its original may be
// running and voting as the same server. A copy that was made after a clean stop may vote, since a
// cluster of which all directories were copied could not start otherwise.
func (r *Run) Abstains() bool { return r.Apart && (r.Lost || r.Registered == 0) }

// NextIncarnation is the number of a start that begins now: above those of all starts before it,
// also of one that the cluster may have registered without this directory hearing of it.
// A random part keeps two copies of a directory from having the same number, even if their
// clocks stand still.
func (r *Run) NextIncarnation(now time.Time) uint64 {
	return max(uint64(max(0, now.UnixNano())), r.Incarnation+1, r.Registered+1) + rand.Uint64N(incarnationSpread)
}

// Intact reports, before the run is registered, whether it has all acknowledged writes of earlier
// runs, if after is the last of them that the cluster knows.
func (r *Run) Intact() (intact bool, after uint64) { return !r.Lost, r.Registered }

// Load reads what a directory remembers; it is the zero Run if that is nothing, or cannot be read.
func Load(dir string) (Run, error) {
	path := filepath.Join(dir, File)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Run{}, nil
	} else if err != nil {
		return Run{}, fmt.Errorf("read of the last start: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err := errors.Join(err, f.Close()); err != nil {
		return Run{}, fmt.Errorf("read of the last start: %w", err)
	}
	var r Run
	if durable.Unseal(text, &r) != nil || r.Format != Format {
		return Run{}, nil // it proves nothing, which is safe
	}
	return r, nil
}

// Exists reports whether a node has been open in a directory.
func Exists(dir string) (bool, error) {
	switch _, err := os.Stat(filepath.Join(dir, File)); {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	default:
		return false, fmt.Errorf("read of the last start: %w", err)
	}
}

// Save replaces the file: after a crash it is the old one or the new one.
func (r Run) Save(dir string) error {
	if err := durable.ReplaceJSON(filepath.Join(dir, File), r); err != nil {
		return fmt.Errorf("note this start: %w", err)
	}
	return nil
}
