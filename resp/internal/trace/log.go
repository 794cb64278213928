package trace

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// An Entry is requests whose replies have left late.
type Entry struct {
	ID           int64
	At           time.Time // when they left
	Took         time.Duration
	Command      string // the slowest of the requests
	Client, Name string // of the client; of another node's clients, "node" and that
	Token        ring.Token
	Keyed        bool // Token is that of a key
	Stages       []Stage
}

// A Log keeps the newest entries. Its methods may be called from any goroutine.
type Log struct {
	mu      sync.Mutex
	next    int64
	entries []Entry // oldest first
}

// Add keeps an entry, and at most so many in all.
func (l *Log) Add(e Entry, keep int) {
	if keep <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.ID = l.next
	l.next++
	l.entries = append(l.entries, e)
	if drop := len(l.entries) - keep; drop > 0 {
		clear(l.entries[:drop])
		l.entries = l.entries[drop:] // append makes a new array now and then
	}
}

// Latest returns at most n entries that match, the newest first. nil matches all.
func (l *Log) Latest(n int, match func(*Entry) bool) (found []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.entries) - 1; i >= 0 && len(found) < n; i-- {
		if match == nil || match(&l.entries[i]) {
			found = append(found, l.entries[i])
		}
	}
	return found
}

// WentTo reports whether some of the requests went to a node.
func (e *Entry) WentTo(node string) bool {
	return slices.ContainsFunc(e.Stages, func(s Stage) bool { return s.Name == Hop && s.Node == node })
}

// String describes the entry in a line.
func (e *Entry) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s took %s", e.At.UTC().Format(time.RFC3339), strings.ToUpper(strings.ReplaceAll(e.Command, "|", " ")), Text(e.Took))
	sep := ": "
	for _, s := range e.Stages {
		b.WriteString(sep + s.Name)
		if s.Node != "" {
			b.WriteString(" " + s.Node)
		}
		b.WriteString(" " + Text(s.End-s.Start))
		sep = ", "
	}
	return b.String()
}

// Text is a duration for people to read.
func Text(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// Reply writes the entry as an array: its number, the time, microseconds, the command, the client's address and name,
// its description, and the stages.
func (e *Entry) Reply(w *wire.Writer) {
	w.Array(8)
	w.Int(e.ID)
	w.Int(e.At.Unix())
	w.Int(e.Took.Microseconds())
	w.BulkString(e.Command)
	w.BulkString(e.Client)
	w.BulkString(e.Name)
	w.BulkString(e.String())
	w.Array(len(e.Stages))
	for _, s := range e.Stages {
		w.Array(3)
		w.BulkString(s.Name)
		w.BulkString(s.Node)
		w.Int((s.End - s.Start).Microseconds())
	}
}

// Described returns the descriptions in an array of entries as [Entry.Reply] has written them; none of what is something
// else, as of an older version.
func Described(reply []byte) (all []string) {
	if len(reply) == 0 || reply[0] != '*' {
		return nil
	}
	for rest, _ := wire.ArrayBody(reply); len(rest) > 0; rest = rest[wire.ValueLen(rest):] {
		line, _ := wire.ArrayBody(rest)
		for range 6 {
			line = line[wire.ValueLen(line):]
		}
		said, _ := wire.ReplyText(line)
		all = append(all, string(said))
	}
	return all
}
