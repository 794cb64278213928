package acl

import (
	"sync"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
)

// An Entry is one or more refused calls or logins of a user that were alike, one soon after the other.
type Entry struct {
	ID      int64 // counts from 0 since the start of the node
	Count   int64
	Reason  string // "command", "key", "channel" or "auth"
	Context string // "toplevel", "multi" or "lua"
	Object  string // the command, key or channel
	User    string
	Created time.Time // of the first one
	At      time.Time // of the last one
	Client  string    // of the last one, as CLIENT LIST describes it
}

const (
	// groupFor is how long after one entry a like one is counted with it, if it is among the newest.
	groupFor = time.Minute
	groupOf  = 10
	// maxObject bounds what is kept of a key or channel, in bytes.
	maxObject = 1 << 10
	// maxEntries bounds the log, whatever acllog-max-len says.
	maxEntries = 10_000
)

// A Log keeps what was refused. Its methods may be called from any goroutine.
type Log struct {
	mu      sync.Mutex
	entries []Entry          // oldest first
	next    int64            // ID of the next entry
	denied  map[string]int64 // entries added, by reason
}

// Add notes an entry, of which a log of so many entries keeps the newest.
func (l *Log) Add(e Entry, most int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.denied == nil {
		l.denied = make(map[string]int64)
	}
	l.denied[e.Reason]++
	e.ID, e.Created = l.next, e.At
	e.Count, e.Object, e.User = 1, e.Object[:min(len(e.Object), maxObject)], e.User[:min(len(e.User), maxObject)]
	for i := len(l.entries) - 1; i >= max(len(l.entries)-groupOf, 0); i-- {
		if old := &l.entries[i]; old.Reason == e.Reason && old.Context == e.Context && old.Object == e.Object && old.User == e.User && e.At.Sub(old.At).Abs() <= groupFor {
			e.Count += old.Count
			e.ID, e.Created = old.ID, old.Created
			l.entries = append(l.entries[:i], l.entries[i+1:]...)
			break
		}
	}
	if l.entries = append(l.entries, e); e.ID == l.next {
		l.next++
	}
	if over := len(l.entries) - int(min(most, maxEntries)); over > 0 {
		l.entries = append([]Entry(nil), l.entries[over:]...)
	}
}

// ResetDenied has Denied count from 0.
func (l *Log) ResetDenied() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.denied)
}

// Denied returns how many entries were added with a reason.
func (l *Log) Denied(reason string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.denied[reason]
}

// Newest returns the newest entries, the newest one first, at most n.
func (l *Log) Newest(n int64) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var newest []Entry
	for i := len(l.entries) - 1; i >= 0 && int64(len(newest)) < n; i-- {
		newest = append(newest, l.entries[i])
	}
	return newest
}

// Reset empties the log.
func (l *Log) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

// Logged reports whether Redis would log the denial: it does not log that of an option of SORT.
func (d Denial) Logged() bool { return d.Reason != DeniedBy && d.Reason != DeniedGet }

// LogReason returns what the log calls the reason of a denial.
func (d Denial) LogReason() string {
	switch d.Reason {
	case DeniedKey, DeniedBy, DeniedGet:
		return "key"
	case DeniedChannel:
		return "channel"
	case Allowed, DeniedCommand:
	}
	return "command"
}

// LogObject returns what the log names of a call.
func (d Denial) LogObject(call *Call) string {
	switch d.Reason {
	case DeniedKey:
		if call.Stored {
			return string(database.Name(call.Args[d.Pos]))
		}
		return string(call.Args[d.Pos])
	case DeniedChannel, DeniedBy, DeniedGet:
		return string(call.Args[d.Pos])
	case Allowed, DeniedCommand:
	}
	return call.Row.Full
}
