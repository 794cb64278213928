package table

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// maxSnapshot bounds what is read of a snapshot, in bytes: far above the largest
// table.
const maxSnapshot = 1 << 30

// fsm runs the state machine. The library calls it from one goroutine.
type fsm struct {
	state atomic.Pointer[State]
	// fault is why this node cannot follow any more: an entry that it does not understand, which a newer version has
	// proposed. From then on it applies nothing, since it would end up with another table than all others.
	fault   atomic.Pointer[error]
	applied func()
	// note is Config.Applied.
	note func(at time.Time, c Command, before, after *State)
	// decided is called for every entry, also for one that changes nothing.
	decided func()
	// began is when the application of the present entry began, in nanoseconds since opened; 0 if none is being applied.
	began  atomic.Int64
	opened time.Time
	// applying is called before an entry is applied; tests have it block. nil does nothing.
	applying func()
}

// stuckAfter is how long one entry may take to be applied. All take much less than a
// millisecond, so what takes longer has stopped.
const stuckAfter = 2 * time.Second

// stuck is why this node does not follow the table at this moment; nil if it does.
func (f *fsm) stuck() error {
	if took := f.applyingFor(); took >= stuckAfter {
		return fmt.Errorf("table: %w: one entry has taken %v so far", ErrStuck, took.Round(time.Millisecond))
	}
	return nil
}

// applyingFor is for how long the present entry has been in application; 0 if none is.
func (f *fsm) applyingFor() time.Duration {
	began := f.began.Load()
	if began == 0 {
		return 0
	}
	return time.Since(f.opened) - time.Duration(began)
}

// An outcome is what became of a proposed command.
type outcome struct {
	index uint64
	err   error
}

func (f *fsm) Apply(l *raft.Log) any {
	f.began.Store(max(int64(time.Since(f.opened)), 1))
	defer f.began.Store(0)
	defer f.decided()
	if f.applying != nil {
		f.applying()
	}
	if l.Type != raft.LogCommand {
		return outcome{l.Index, nil}
	}
	if fault := f.fault.Load(); fault != nil {
		return undecided(l.Index, *fault)
	}
	if outdated(l) {
		return outcome{l.Index, refuse(ErrTerm, "%d", l.Term)}
	}
	command, err := Decode(l.Data)
	if err != nil {
		err = fmt.Errorf("table: entry %d: %w", l.Index, err)
		f.fault.Store(&err)
		f.applied()
		return undecided(l.Index, err)
	}
	before := f.state.Load()
	next, err := before.Apply(l.Index, command)
	if err == nil {
		f.state.Store(next)
		if f.note != nil {
			f.note(l.AppendedAt, command, before, next)
		}
		f.applied()
	}
	return outcome{l.Index, err}
}

// undecided is the answer of a node that does not know what the others make of an
// entry.
func undecided(index uint64, fault error) outcome {
	return outcome{index, fmt.Errorf("%w: %w", ErrUnknownOutcome, fault)}
}

func (f *fsm) Snapshot() (raft.FSMSnapshot, error) {
	if fault := f.fault.Load(); fault != nil {
		return nil, *fault
	}
	return image{f.state.Load()}, nil
}

func (f *fsm) Restore(from io.ReadCloser) error {
	defer from.Close()
	data, err := io.ReadAll(io.LimitReader(from, maxSnapshot+1))
	if err != nil {
		return fmt.Errorf("table: read a snapshot: %w", err)
	}
	if len(data) > maxSnapshot {
		return fmt.Errorf("table: read a snapshot: %w: over %d bytes", ErrMalformed, maxSnapshot)
	}
	s := new(State)
	if err := s.UnmarshalBinary(data); err != nil {
		return fmt.Errorf("table: read a snapshot: %w", err)
	}
	f.state.Store(s)
	f.fault.Store(nil)
	f.applied()
	return nil
}

// An image is a state on its way into a snapshot. States never change, so that the
// table goes on meanwhile.
type image struct{ state *State }

func (i image) Persist(sink raft.SnapshotSink) error {
	data, err := i.state.MarshalBinary()
	if err == nil {
		_, err = sink.Write(data)
	}
	if err != nil {
		_ = sink.Cancel()
		return fmt.Errorf("table: write a snapshot: %w", err)
	}
	return sink.Close()
}

func (image) Release() {}
