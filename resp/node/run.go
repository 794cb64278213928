package node

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
	runFile   = "run.json"
	runFormat = 1
	// lockFile is held by the store as long as it is open. It is created once, and renaming
	// the directory keeps it.
	lockFile = "LOCK"
	// maxRunFile bounds the size of the file that is read.
	maxRunFile = 4 << 10
	// incarnationSpread bounds the random part of the number of a start, in nanoseconds.
	incarnationSpread = 1 << 20
)

// A run is what a directory remembers of the last start of its node: whether the next
// one can say that it has all that was acknowledged.
type run struct {
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

// startConditions are what a start finds around it.
type startConditions struct {
	boot  string // id of this start of the machine
	place string // see run.Place
	// logFailed reports that the store's log had failed when the last process ended.
	logFailed bool
}

// copiedTo reports whether the directory at a place is a copy of the one of the run.
func (r *run) copiedTo(place string) bool {
	return r.Place != "" && place != "" && r.Place != place
}

// survived reports whether all writes that the run had acknowledged are present at the next start:
// the system lost nothing, or the disk had everything. A copy has everything only if it was made
// after a clean stop.
//
// In mode everysec a failed fsync of the log may take back acknowledged writes. In mode always no
// write is acknowledged before its fsync. After a clean stop the log is known to be whole.
func (r *run) survived(around startConditions) bool {
	if r.copiedTo(around.place) {
		return r.Stopped
	}
	switch store.Fsync(r.Fsync) {
	case store.FsyncAlways:
		return true
	case store.FsyncEverySec:
		return r.Stopped || r.Boot != "" && r.Boot == around.boot && !around.logFailed
	}
	return r.Stopped
}

// next is the run that begins now. A directory that has seen none is new, or its run was
// not recorded, and proves nothing.
func (r *run) next(now time.Time, around startConditions, fsync store.Fsync) run {
	return run{
		Format: runFormat, Incarnation: r.nextIncarnation(now), Boot: around.boot, Fsync: string(fsync),
		Registered: r.Registered, Lost: r.Lost || r.Registered == 0 || !r.survived(around),
		Place: around.place, Copied: r.Copied || r.copiedTo(around.place), Apart: r.Apart || machine.IsFileCopy(r.Place, around.place), Bus: r.Bus,
	}
}

// abstains reports whether the start must not vote before it is registered: its original may be
// running and voting as the same server. A copy that was made after a clean stop may vote, since a
// cluster of which all directories were copied could not start otherwise.
func (r *run) abstains() bool { return r.Apart && (r.Lost || r.Registered == 0) }

// nextIncarnation is the number of a start that begins now: above those of all starts before it,
// also of one that the cluster may have registered without this directory hearing of it.
// A random part keeps two copies of a directory from having the same number, even if their
// clocks stand still.
func (r *run) nextIncarnation(now time.Time) uint64 {
	return max(uint64(max(0, now.UnixNano())), r.Incarnation+1, r.Registered+1) + rand.Uint64N(incarnationSpread)
}

// intact reports, before the run is registered, whether it has all acknowledged writes of earlier
// runs, if after is the last of them that the cluster knows.
func (r *run) intact() (intact bool, after uint64) { return !r.Lost, r.Registered }

func loadRun(dir string) (run, error) {
	path := filepath.Join(dir, runFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return run{}, nil
	} else if err != nil {
		return run{}, fmt.Errorf("read of the last start: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxRunFile))
	if err := errors.Join(err, f.Close()); err != nil {
		return run{}, fmt.Errorf("read of the last start: %w", err)
	}
	var r run
	if durable.Unseal(text, &r) != nil || r.Format != runFormat {
		return run{}, nil // it proves nothing, which is safe
	}
	return r, nil
}

// hasRun reports whether a node has been open in a directory.
func hasRun(dir string) (bool, error) {
	switch _, err := os.Stat(filepath.Join(dir, runFile)); {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	default:
		return false, fmt.Errorf("read of the last start: %w", err)
	}
}

// save replaces the file: after a crash it is the old one or the new one.
func (r run) save(dir string) error {
	if err := saveJSON(dir, runFile, r); err != nil {
		return fmt.Errorf("note this start: %w", err)
	}
	return nil
}

// beginRun records that the node runs, and as which start, before it can acknowledge a write and
// before another node hears of it.
func (n *Node) beginRun() error {
	if err := os.MkdirAll(n.cfg.Dir, 0o700); err != nil {
		return err
	}
	last, err := loadRun(n.cfg.Dir)
	if err != nil {
		return err
	}
	if known, err := hasRun(n.cfg.Dir); err != nil {
		return err
	} else if known && last.Format == 0 {
		n.cfg.Logger.Warn("the file about the last start is damaged: the last acknowledged writes may be missing here",
			"node", n.id, "file", filepath.Join(n.cfg.Dir, runFile))
	}
	now := n.cfg.env.Wall()
	if n.cfg.Role == RoleStore {
		n.run = last.next(now, startConditions{machine.BootID(), machine.FileIdentity(filepath.Join(n.cfg.Dir, lockFile)), n.store.LogFailed()}, n.store.Fsync())
		if n.run.Copied && n.run.Lost {
			n.cfg.Logger.Warn("the directory was copied while its node ran, or after a crash: writes acknowledged since then may be missing",
				"node", n.id, "dir", n.cfg.Dir)
		}
	} else { // which has nothing to lose
		n.run = run{Format: runFormat, Incarnation: last.nextIncarnation(now)}
		if n.cfg.Role == RoleWitness { // which votes
			n.run.Place = machine.FileIdentity(filepath.Join(n.cfg.raftDir(), "raft.db"))
			n.run.Copied = last.Copied || last.copiedTo(n.run.Place)
			n.run.Apart, n.run.Bus = last.Apart || machine.IsFileCopy(last.Place, n.run.Place), last.Bus
		}
	}
	if err := n.run.save(n.cfg.Dir); err != nil {
		return err
	}
	if n.store.LogFailed() {
		n.cfg.Logger.Warn("the log of the store had failed before the last process ended: the last acknowledged writes may be missing here", "node", n.id)
		if err := n.store.ForgetLogFailure(); err != nil {
			n.cfg.Logger.Warn("clearing the note about the failed log failed: the next start will report it again", "node", n.id, "err", err)
		}
	}
	return nil
}

// runRegistered notes that the cluster knows of this run, and where other nodes reach it.
func (n *Node) runRegistered(incarnation uint64, bus string) error {
	if n.cfg.Role == RoleProxy {
		return nil
	}
	n.run.Copied, n.run.Apart, n.run.Bus = false, false, bus
	if n.cfg.Role == RoleStore {
		n.run.Registered, n.run.Lost = incarnation, false
	} else if n.run.Place == "" {
		n.run.Place = machine.FileIdentity(filepath.Join(n.cfg.raftDir(), "raft.db")) // there was none at the start
	}
	return n.run.save(n.cfg.Dir)
}

// endRun notes that all is durable, as the last thing that the node does.
func (n *Node) endRun() error {
	if n.cfg.Role != RoleStore {
		return nil
	}
	n.run.Stopped = true
	return n.run.save(n.cfg.Dir)
}
