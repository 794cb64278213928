package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// An Event is a line of the log.
type Event struct {
	Kind Kind `json:"event"`
	OK   bool `json:"ok"`
	// User is the name of the client's user, or the one that a login named.
	User string `json:"user"`
	// Client is the address of the client, and ID the number of its connection.
	Client  string `json:"client"`
	ID      int64  `json:"id"`
	Command string `json:"command,omitempty"`
	Object  string `json:"object,omitempty"` // see ObjectOf
	Reason  string `json:"reason,omitempty"` // why it was refused
}

const (
	// perSecond bounds the lines of one second. Further events are counted, not written.
	perSecond = 1000
	// waiting is how many lines may wait for the disk.
	waiting = 1024
	// maxText bounds a text from a client, in bytes.
	maxText = 256
	// complainEvery is how often a failure to write is reported.
	complainEvery = time.Minute
)

// Stderr is the target that stands for the standard error.
const Stderr = "stderr"

// A Log writes events to a file. A nil Log writes nothing. Its methods may be called from any goroutine.
type Log struct {
	path   string
	logger *slog.Logger
	lines  chan line
	ended  chan struct{} // closed when the goroutine has written all

	// file guards out, also while a line is written to it.
	file sync.Mutex
	out  io.WriteCloser

	mu     sync.Mutex
	closed bool
	second int64 // in which n events were taken
	n      int
	lost   int64 // events since the last line

	complained time.Time // of the goroutine
}

type line struct {
	Time string `json:"time"`
	Event
	Lost int64 `json:"dropped,omitempty"` // events before this one that have no line
}

// Open opens a log; target is the path of a file, to which lines are appended, or [Stderr]. An empty target
// returns nil.
func Open(target string, logger *slog.Logger) (*Log, error) {
	if target == "" {
		return nil, nil
	}
	l := &Log{path: target, logger: logger, lines: make(chan line, waiting), ended: make(chan struct{})}
	out, err := l.open()
	if err != nil {
		return nil, err
	}
	l.out = out
	go l.write()
	return l, nil
}

func (l *Log) open() (io.WriteCloser, error) {
	if l.path == Stderr {
		return os.Stderr, nil
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return f, nil
}

// Note writes an event, without waiting for the disk. Where there are too many, or the disk is too slow, the
// event is only counted.
func (l *Log) Note(e Event) {
	if l == nil {
		return
	}
	for _, text := range []*string{&e.User, &e.Object, &e.Client, &e.Reason} {
		*text = strings.ToValidUTF8((*text)[:min(len(*text), maxText)], "?")
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if s := now.Unix(); s != l.second {
		l.second, l.n = s, 0
	}
	if l.n++; l.n > perSecond {
		l.lost++
		return
	}
	select {
	case l.lines <- line{now.UTC().Format(time.RFC3339Nano), e, l.lost}:
		l.lost = 0
	default:
		l.lost++
	}
}

// write writes what Note has taken, until Close.
func (l *Log) write() {
	defer close(l.ended)
	for next := range l.lines {
		l.writeLine(next)
	}
}

func (l *Log) writeLine(next line) {
	text, err := json.Marshal(next)
	if err == nil {
		l.file.Lock()
		_, err = l.out.Write(append(text, '\n'))
		l.file.Unlock()
	}
	if err != nil && time.Since(l.complained) >= complainEvery {
		l.complained = time.Now()
		l.logger.Error("writing the audit log failed", "err", err)
	}
}

// Reopen opens the file once more, which was renamed perhaps. If that fails, lines go where they went.
func (l *Log) Reopen() error {
	if l == nil || l.path == Stderr {
		return nil
	}
	out, err := l.open()
	if err != nil {
		return err
	}
	l.file.Lock()
	l.out, out = out, l.out
	l.file.Unlock()
	return out.Close()
}

// Close writes what is waiting, and ends the log. Nothing calls Reopen from then on.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	close(l.lines)
	l.mu.Unlock()
	<-l.ended
	if l.lost > 0 {
		l.writeLine(line{time.Now().UTC().Format(time.RFC3339Nano), Event{Kind: dropped}, l.lost})
	}
	if l.path == Stderr {
		return nil
	}
	return l.out.Close()
}
