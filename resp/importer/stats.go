package importer

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxLosses bounds the list of what could not be taken. All are counted.
const maxLosses = 1000

// A Loss is something of the source that the target does not have.
type Loss struct {
	Database int
	Key      string // or the name of what is no key
	Reason   string
	NoKey    bool
}

// String is a line for a report.
func (l Loss) String() string {
	if l.NoKey {
		return l.Reason
	}
	return fmt.Sprintf("database %d, key %q: %s", l.Database, l.Key, l.Reason)
}

// Stats counts what an import has done. Its methods may be called from any number of goroutines. The zero
// value counts nothing yet.
type Stats struct {
	keys, bytes, expired, filtered, misplaced, metadata, changes atomic.Int64
	total, read                                                  atomic.Int64
	received, applied                                            atomic.Int64 // offsets of the source's stream
	waiting                                                      atomic.Int64 // changed keys
	oldest                                                       atomic.Int64 // when the oldest of them changed, ns since 1970

	anyLost  atomic.Bool // found has something to look for
	scanning atomic.Bool // keys that are read one by one are counted as keys, not as changes

	mu     sync.Mutex
	phase  string
	losses []Loss
	known  map[string]int // by database and key, where it is in losses
	lost   int
	notes  []string
}

// Phases that others than people go by.
const (
	phaseConnect   = "connect"
	phaseReconnect = "reconnect"
	phaseFollow    = "follow"
	phaseEvents    = "follow by events"
)

// Counts is what an import has done so far.
type Counts struct {
	// Phase is what the import does at present, for people to read.
	Phase string
	// Following: all keys have been copied, and changes are read as they come. Copying: all keys are being copied.
	// Neither: there is no connection to the source.
	Following, Copying bool
	// Keys and Bytes are what was written as a whole: keys, and bytes of their payloads.
	Keys, Bytes int64
	// Expired keys had expired before they were read.
	Expired int64
	// Filtered keys were left out by a pattern or a database, Misplaced ones because the pool would not
	// place them at their source.
	Filtered, Misplaced int64
	// Metadata: keys whose metadata of modules was left out.
	Metadata int64
	// Lost counts what could not be taken, and Losses lists it, as far as there is room.
	Lost   int
	Losses []Loss
	// Read of Total bytes of the RDB file have been read; Total is 0 if that is not known.
	Read, Total int64
	// Changes counts keys that were read again because they had changed; Waiting have yet to be.
	Changes, Waiting int64
	// Received and Applied are offsets of the stream of the source, in bytes.
	Received, Applied int64
	// Behind is for how long the oldest change waits that has not been applied.
	Behind time.Duration
	// Notes are what cannot be promised.
	Notes []string
}

// Counts returns what has been done so far.
func (s *Stats) Counts() Counts {
	c := Counts{
		Keys: s.keys.Load(), Bytes: s.bytes.Load(), Expired: s.expired.Load(), Filtered: s.filtered.Load(),
		Misplaced: s.misplaced.Load(), Metadata: s.metadata.Load(), Read: s.read.Load(), Total: s.total.Load(),
		Changes: s.changes.Load(), Waiting: s.waiting.Load(), Received: s.received.Load(), Applied: s.applied.Load(),
	}
	if oldest := s.oldest.Load(); oldest > 0 {
		c.Behind = max(0, time.Since(time.Unix(0, oldest)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Following = s.phase == phaseFollow || s.phase == phaseEvents
	c.Copying = !c.Following && s.phase != "" && s.phase != phaseConnect && s.phase != phaseReconnect
	c.Phase, c.Lost, c.Losses, c.Notes = s.phase, s.lost, slices.Clone(s.losses), slices.Clone(s.notes)
	return c
}

// SetTotal says how long the RDB file is, in bytes.
func (s *Stats) SetTotal(bytes int64) { s.total.Store(bytes) }

func (s *Stats) enter(phase string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = phase
}

// note records something that cannot be promised, once.
func (s *Stats) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.notes, text) && len(s.notes) < maxLosses {
		s.notes = append(s.notes, text)
	}
}

// lose records a loss. A key counts once, with its last reason.
func (s *Stats) lose(l Loss) {
	l.Reason = strings.TrimPrefix(l.Reason, "ERR ")
	s.mu.Lock()
	defer s.mu.Unlock()
	id := fmt.Sprint(l.Database, " ", l.Key, l.NoKey)
	if at, ok := s.known[id]; ok {
		s.losses[at] = l
		return
	}
	s.lost++
	s.anyLost.Store(true)
	if len(s.losses) < maxLosses {
		if s.known == nil {
			s.known = make(map[string]int)
		}
		s.known[id] = len(s.losses)
		s.losses = append(s.losses, l)
	}
}

// found takes a loss back: the key has been written, or is gone.
func (s *Stats) found(database int, key []byte) {
	if !s.anyLost.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := fmt.Sprint(database, " ", string(key), false)
	at, ok := s.known[id]
	if !ok {
		return
	}
	delete(s.known, id)
	s.losses = slices.Delete(s.losses, at, at+1)
	s.lost--
	for other, n := range s.known {
		if n > at {
			s.known[other] = n - 1
		}
	}
}
