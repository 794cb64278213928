package table

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/raft"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/ringside-kv/ringside/replica/table/internal/checked"
	"github.com/ringside-kv/ringside/replica/table/internal/highwater"
)

// Remains are what the directory of a node that does not run has of the table.
type Remains struct {
	// Server is the directory's id in the group.
	Server string
	// Term and Index are those of the last entry. Of two directories of a cluster, the
	// one that is later by them has everything that the other one knows to be decided.
	Term, Index uint64
	// State is the table with every entry that is there. Whether the last ones were
	// decided before the majority was lost is unknown; they are taken as
	// if they were, which loses no data: a copy that is not yet in a set is no worse
	// than one that is, and one that is put out is no better.
	State *State
}

// Later reports whether the remains are of a later moment than others.
func (r *Remains) Later(than *Remains) bool {
	return r.Term > than.Term || r.Term == than.Term && r.Index > than.Index
}

// ErrInUse says that another process has the directory open.
var ErrInUse = errors.New("the directory is in use")

// ReadRemains reads the table in a directory that no process has open. It changes
// nothing there.
func ReadRemains(dir string) (*Remains, error) {
	if _, err := os.Stat(filepath.Join(dir, logFile)); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	d, err := openRemains(dir)
	if err != nil {
		return nil, err
	}
	r, err := d.remains()
	return r, errors.Join(err, d.close())
}

// openRemains opens a directory for reading: it gets no checksums, if it has none.

func openRemains(dir string) (*disk, error) {
	id, err := readServer(filepath.Join(dir, serverFile))
	if errors.Is(err, os.ErrNotExist) {
		err = checked.Damaged(filepath.Join(dir, serverFile), "it is missing, and there is a log")
	}
	if err != nil {
		return nil, err
	}
	f, err := openFiles(&Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)}, id.stage)
	if err == nil {
		if _, err = f.check(filepath.Join(dir, highwater.FileName)); err != nil {
			err = errors.Join(err, f.close())
		}
	}
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%w: %w", ErrInUse, err)
	}
	if err != nil {
		return nil, err
	}
	return &disk{server: id.server, logs: f.logs, stable: f.stable, snapshots: f.snapshots, close: f.close}, nil
}

// remains replays the newest snapshot and all entries after it.
func (d *disk) remains() (*Remains, error) {
	r := &Remains{Server: d.server}
	f := &fsm{applied: func() {}, decided: func() {}}
	f.state.Store(new(State))
	snapshots, err := d.snapshots.List()
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	if len(snapshots) > 0 {
		meta, from, err := d.snapshots.Open(snapshots[0].ID)
		if err == nil {
			err = f.Restore(from)
		}
		if err != nil {
			return nil, fmt.Errorf("table: the newest snapshot: %w", err)
		}
		r.Term, r.Index = meta.Term, meta.Index
	}
	last, err := d.logs.LastIndex()
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	for i := r.Index + 1; i <= last; i++ {
		var entry raft.Log
		if err := d.logs.GetLog(i, &entry); err != nil {
			return nil, fmt.Errorf("table: entry %d: %w", i, err)
		}
		f.Apply(&entry)
		if fault := f.fault.Load(); fault != nil {
			return nil, *fault
		}
		r.Term, r.Index = entry.Term, i
	}
	if r.State = f.state.Load(); !r.State.Founded() {
		return nil, fmt.Errorf("table: %w", ErrNotFounded)
	}
	return r, nil
}

// A Recovered table is what is made of what is left when the majority of the voters is
// lost for good.
type Recovered struct {
	State *State
	// Kept are the ranges that go on: Ranges at the node that served them, and Promoted
	// at one that had a copy. Lost have no copy at any of the nodes that are left.
	Ranges, Promoted, Lost int
	// Doubtful counts the ranges that go on at a node that may have lost acknowledged writes,
	// since no complete copy is left; Incomplete names these nodes.
	Doubtful   int
	Incomplete []string
	// Gone are the nodes that are left out, and Missed those of them that stay in the
	// table since no other node has ranges of theirs.
	Gone, Missed []string
}

// A Survivor is a node that is left.
type Survivor struct {
	ID string
	// Incomplete reports that its directory may have lost acknowledged writes of which the
	// table does not know: its last start was not registered, or the machine lost them since.
	Incomplete bool
}

// Recover makes a table, at an index above all others, of the nodes that are left. Each
// range goes on, under a new epoch, at one of them that has everything acknowledged of it:
// the one that served it, else the first in the order of succession. The others get their
// copies again, by digests, since it is unknown how far each had come. A node that may have
// lost something is chosen only where no complete copy is left.
func (s *State) Recover(index, generation uint64, left []Survivor) *Recovered {
	d := s.draft(index)
	r := &Recovered{State: d.State}
	d.cluster.Generation = generation
	d.cancel(func(*Handoff) bool { return true })
	missed, incomplete := make(map[string]bool), make(map[string]bool)
	d.change(func(*Row) bool { return true }, func(row *Row) {
		row.Op = Op{}
		row.Learners, row.Starts = nil, nil
		heir, complete := d.heir(row, left)
		row.Epoch++
		switch heir {
		case "":
			r.Lost++
			for node := range row.Copies() {
				missed[node] = true
			}
			return
		case row.Primary:
			r.Ranges++
		default:
			r.Promoted++
		}
		if !complete {
			r.Doubtful++
			incomplete[heir] = true
		}
		row.Primary, row.Backups = heir, nil
		row.Incarnation = d.incarnation(heir)
	})
	r.Incomplete = slices.Sorted(maps.Keys(incomplete))
	for i := range d.nodes {
		n := &d.nodes[i]
		if n.State == Gone || slices.ContainsFunc(left, func(v Survivor) bool { return v.ID == n.ID }) {
			continue
		}
		r.Gone = append(r.Gone, n.ID)
		if missed[n.ID] {
			r.Missed = append(r.Missed, n.ID)
			continue
		}
		d.enter(n, Gone)
	}
	d.replan()
	return r
}

// heir returns the node at which a row goes on, and whether it has everything that was acknowledged
// of the row; nothing if no copy is left.
func (d *draft) heir(row *Row, left []Survivor) (id string, complete bool) {
	for i, node := range append([]string{row.Primary}, row.Backups...) {
		at := slices.IndexFunc(left, func(v Survivor) bool { return v.ID == node })
		isPrimary := i == 0
		if at < 0 || isPrimary && d.Emptied(row) {
			continue
		}
		if !left[at].Incomplete && !(isPrimary && d.restartedWithLoss(row)) {
			return node, true
		}
		if id == "" {
			id = node
		}
	}
	return id, false
}

// WriteRecovered makes a directory in which a node finds a table as if it had followed it
// all along, as one of some nodes of which voter alone has a vote. dir must not be there
// yet. It is all on disk when this returns.
func WriteRecovered(dir, server string, term uint64, st *State, nodes []Node, voter string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	// The id first, since one that has no log is not used again.
	if err := writeServer(dir, serverFileText{server, stageUpgrading}); err != nil {
		return err
	}
	d, err := openDisk(&Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	return errors.Join(d.fill(term, st, nodes, voter), d.close(), syncFiles(dir))
}

func (d *disk) fill(term uint64, st *State, nodes []Node, voter string) error {
	var group raft.Configuration
	for _, n := range nodes {
		server := raft.Server{ID: raft.ServerID(n.Server), Address: raft.ServerAddress(n.ID), Suffrage: raft.Nonvoter}
		if n.ID == voter {
			server.Suffrage = raft.Voter
		}
		group.Servers = append(group.Servers, server)
	}
	if err := d.stable.SetUint64(checked.CurrentTerm, term); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	_, transport := raft.NewInmemTransport("")
	defer func() { _ = transport.Close() }()
	sink, err := d.snapshots.Create(raft.SnapshotVersionMax, st.Index(), term, group, st.Index(), transport)
	if err != nil {
		return fmt.Errorf("table: %w", err)
	}
	if err := (image{st}).Persist(sink); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return nil
}

func syncFiles(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}
