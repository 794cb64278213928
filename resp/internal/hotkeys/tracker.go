package hotkeys

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/ring"
)

// A Tracker is the tracking of one server. Its methods may be called from any goroutine.
type Tracker struct {
	// running is the session that notes commands; nil if none does.
	running atomic.Pointer[session]

	mu   sync.Mutex
	last *session // running or stopped; nil after a reset
}

// A session is one period of tracking.
type session struct {
	options
	began time.Time
	cpu   [2]time.Duration // of the process at the beginning: user, system
	turn  atomic.Uint64    // commands, for the sample

	// Of all commands, sampled or not.
	time, bytes atomic.Int64

	mu        sync.Mutex
	ended     time.Time // zero while it runs
	usedUser  time.Duration
	usedSys   time.Duration
	slotTime  [2]int64 // in the selected slots: of sampled commands, of all; nanoseconds
	slotBytes [2]int64
	byTime    *sketch // nanoseconds; nil if not asked for
	byBytes   *sketch
}

// factor is how many more keys than asked for a sketch counts: it makes the sums of the first keys nearly exact.
const factor = 16

// Running returns whether commands are to be noted.
func (t *Tracker) Running() bool { return t.running.Load() != nil }

// Note notes a command that ran for so long and had a reply of so many bytes. Call it while Running.
func (t *Tracker) Note(row *command.Row, args [][]byte, took time.Duration, reply int) {
	s := t.running.Load()
	if s == nil {
		return
	}
	if s.duration > 0 && time.Since(s.began) >= s.duration {
		t.stop()
		return
	}
	size := int64(reply)
	for _, arg := range args {
		size += int64(len(arg))
	}
	s.time.Add(int64(took))
	s.bytes.Add(size)
	if !row.Keyed || row.Script { // the commands of a script are noted themselves
		return
	}
	sampled := s.turn.Add(1)%uint64(s.sample) == 0
	if !sampled && s.slots == nil {
		return
	}
	var buf [16]command.KeyRef
	keys, err := row.KeysOf(args, buf[:0])
	if err != nil || len(keys) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int64(len(keys))
	for _, k := range keys {
		s.note(database.Name(args[k.Pos]), int64(took)/n, size/n, sampled)
	}
}

// note notes a key; the caller holds mu.
func (s *session) note(key []byte, nanos, size int64, sampled bool) {
	if s.slots != nil {
		if !s.slots[ring.Slot(key)] {
			return
		}
		s.slotTime[1] += nanos
		s.slotBytes[1] += size
	}
	if !sampled {
		return
	}
	s.slotTime[0] += nanos
	s.slotBytes[0] += size
	if s.byTime != nil {
		s.byTime.add(key, nanos)
	}
	if s.byBytes != nil {
		s.byBytes.add(key, size)
	}
}

// start begins a session. It reports false if one runs.
func (t *Tracker) start(o options, cpu func() (system, user time.Duration)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running.Load() != nil {
		return false
	}
	s := &session{options: o, began: time.Now()}
	system, user := cpu()
	s.cpu = [2]time.Duration{user, system}
	if o.cpu {
		s.byTime = newSketch(factor * o.count)
	}
	if o.net {
		s.byBytes = newSketch(factor * o.count)
	}
	t.last = s
	t.running.Store(s)
	return true
}

// stop ends the running session. It reports whether there was one.
func (t *Tracker) stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.running.Swap(nil)
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = time.Now()
	if s.duration > 0 {
		s.ended = minTime(s.ended, s.began.Add(s.duration))
	}
	return true
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// reset drops the last session. It reports false if it runs.
func (t *Tracker) reset() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running.Load() != nil {
		return false
	}
	t.last = nil
	return true
}

// session returns the running or the last session, nil if there is none. One whose time is over is stopped.
func (t *Tracker) session() *session {
	if s := t.running.Load(); s != nil && s.duration > 0 && time.Since(s.began) >= s.duration {
		t.stop()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}
