package table

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/ringside-kv/ringside/replica/table/internal/checked"
)

// Hooks is where tests let what a table rests on fail. The zero value lets nothing fail.
type Hooks struct {
	// Write is called before the log, a term or a vote is written, and before a [Table]
	// checks its disk; its error is that of the write. It may block, as a disk does.
	Write func() error
	// Applying is called before an entry is applied, by the goroutine that applies it.
	Applying func()
}

const (
	// standAgainAfter is for how long a server whose log has refused an entry does not stand
	// for election. A leader has to write an entry first of all, so such a server would lead
	// for a moment only, and might be the first to stand each time. Others are elected in
	// much less; if the logs of all servers fail, each tries again after this.
	standAgainAfter = 3 * time.Second
	// storeTermAgain is the pause before a term that could not be stored is stored again.
	storeTermAgain = 250 * time.Millisecond
)

var (
	errLogFails = errors.New("table: this server does not stand for election: its log takes no entries")
	errStalled  = errors.New("table: the disk with the table does not answer")
	errApplying = errors.New("table: this server does not stand for election: it has not applied an entry for long")
	errNoTerm   = errors.New("table: the newest term cannot be stored")
)

// writes are the writes to the table's files: those that are under way, and whether the
// last one has failed. Its methods may be called from any goroutine.
type writes struct {
	before func() error // nil: nothing fails
	opened time.Time
	failed atomic.Int64 // when the last write failed, since opened; 0 if it did not
	// storing counts the goroutines that try to store a term until they can.
	storing atomic.Int32
	ended   chan struct{} // closed by release
	// abandoned reports that a term was given up at the end of the process: nothing is written
	// behind it.
	abandoned atomic.Bool

	mu    sync.Mutex
	began map[uint64]time.Time // of each write under way
	last  uint64               // number of the last write
}

func newWrites(before func() error) *writes {
	return &writes{before: before, opened: time.Now(), ended: make(chan struct{}), began: make(map[uint64]time.Time)}
}

// do is one write.
func (w *writes) do(write func() error) (err error) {
	w.mu.Lock()
	w.last++
	n := w.last
	w.began[n] = time.Now()
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.began, n)
		w.mu.Unlock()
		failed := int64(0)
		if err != nil {
			failed = max(int64(time.Since(w.opened)), 1)
		}
		w.failed.Store(failed)
	}()
	if w.before != nil {
		if err := w.before(); err != nil {
			return err
		}
	}
	if w.abandoned.Load() {
		return ErrClosed
	}
	return write()
}

// pending is how long the oldest write has been under way; 0 if none is.
func (w *writes) pending() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	longest := time.Duration(0)
	for _, began := range w.began {
		longest = max(longest, time.Since(began))
	}
	return longest
}

// release ends the attempts to store a term. No message of the library may reach another
// node any more.
func (w *writes) release() { close(w.ended) }

// mayStand returns an error while this server should not stand for election.
func (t *Table) mayStand() error {
	if failed := t.writes.failed.Load(); failed != 0 && time.Since(t.writes.opened)-time.Duration(failed) < standAgainAfter {
		return errLogFails
	}
	// As a leader it would grant no lease before that entry is applied. It stands all the same if
	// no other server has been elected meanwhile, since their logs may be older: then it hands over.
	if t.opened.Load() && t.fsm.applyingFor() > t.cfg.HeartbeatTimeout && time.Since(t.raft.LastContact()) < standAgainAfter {
		return errApplying
	}
	if err := t.mayTakePart(); err != nil {
		return err
	}
	return t.takesPart()
}

// takesPart returns an error while the library's goroutines wait for the disk: what is
// handed to them would wait, too.
func (t *Table) takesPart() error {
	if t.writes.storing.Load() > 0 {
		return errNoTerm
	}
	if t.writes.pending() >= t.cfg.StallTimeout {
		return errStalled
	}
	return nil
}

// A watchedLog has its writes watched.
type watchedLog struct {
	raft.LogStore
	writes *writes
}

// StoreLog implements raft.LogStore.
func (l *watchedLog) StoreLog(entry *raft.Log) error { return l.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore.
func (l *watchedLog) StoreLogs(entries []*raft.Log) error {
	return l.writes.do(func() error { return l.LogStore.StoreLogs(entries) })
}

// DeleteRange implements raft.LogStore.
func (l *watchedLog) DeleteRange(from, to uint64) error {
	return l.writes.do(func() error { return l.LogStore.DeleteRange(from, to) })
}

// A watchedStable is a watchedLog for terms and votes.
//
// The library panics when a term cannot be stored. So a write of a term, as to a full disk,
// is repeated until it succeeds. Meanwhile this server is to others one that does not
// answer: it promises nothing in the new term, whose promises it could not keep after a
// restart. A vote that cannot be stored is not given; the library sees to that.
type watchedStable struct {
	raft.StableStore
	writes *writes
	say    func(error) // called when a term cannot be stored, once for each
}

// Set implements raft.StableStore.
func (s *watchedStable) Set(key, value []byte) error {
	return s.writes.do(func() error { return s.StableStore.Set(key, value) })
}

// SetUint64 implements raft.StableStore.
func (s *watchedStable) SetUint64(key []byte, value uint64) error {
	store := func() error { return s.writes.do(func() error { return s.StableStore.SetUint64(key, value) }) }
	if !bytes.Equal(key, checked.CurrentTerm) {
		return store()
	}
	// The library stores the term that it has read when it starts, which a full disk allows.
	if stored, err := s.GetUint64(key); err == nil && stored == value {
		return nil
	}
	err := store()
	if err == nil {
		return nil
	}
	s.say(err)
	s.writes.storing.Add(1)
	defer s.writes.storing.Add(-1)
	for {
		select {
		case <-time.After(storeTermAgain):
		case <-s.writes.ended:
			// The table is closed. The library goes on with a term that is not stored, but
			// reaches no other node, and neither votes nor entries are stored behind it.
			s.writes.abandoned.Store(true)
			return nil
		}
		if store() == nil {
			return nil
		}
	}
}
