package replica

import (
	"errors"
	"sync"

	"github.com/ringside-kv/ringside/replica/stream"
	"github.com/ringside-kv/ringside/replica/table"
)

// A Cause is the kind of what a handoff waits for, for metrics and logs. [Progress.Waits] says it
// in words.
type Cause uint8

// Causes of a wait.
const (
	NotWaiting  Cause = iota // the handoff does not wait
	Paused                   // an operator has paused the moving of data
	Queued                   // other handoffs come first, to the receiver or of the same ranges
	Cutover                  // a cutover would hold clients for too long
	Unreachable              // the receiver is not running, does not answer or does not keep up
	Refused                  // the receiver gave up, for lack of disk space for example
	TableFailed              // the table does not answer, or has refused
	Other                    // a failure of this node

	causes
)

// Causes returns all causes except [NotWaiting].
func Causes() []Cause {
	var all []Cause
	for c := Paused; c < causes; c++ {
		all = append(all, c)
	}
	return all
}

// String returns a word in lower case; empty for [NotWaiting].
func (c Cause) String() string {
	if c >= causes {
		c = Other
	}
	return [causes]string{"", "paused", "turn", "cutover", "unreachable", "refused", "agreement", "other"}[c]
}

// causeOf returns the cause of a failed try.
func causeOf(err error) Cause {
	is := func(targets ...error) bool {
		for _, target := range targets {
			if errors.Is(err, target) {
				return true
			}
		}
		return false
	}
	switch {
	case err == nil:
		return NotWaiting
	case is(stream.ErrReceiving, errBusy):
		return Queued
	case is(errHold):
		return Cutover
	case is(stream.ErrGaveUp):
		return Refused
	case is(errUnreachable, stream.ErrStream, stream.ErrStalled, stream.ErrBehind):
		return Unreachable
	case table.IsRefused(err), is(table.ErrNoLeader, table.ErrUnknownOutcome, table.ErrClosed):
		return TableFailed
	}
	return Other
}

// A waitReason is what a handoff waits for. The zero value waits for nothing.
type waitReason struct {
	mu    sync.Mutex
	cause Cause
	text  string
}

// set records the cause and its text. It reports whether the cause has changed.
func (w *waitReason) set(cause Cause, text string) (news bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	news = cause != w.cause
	w.cause, w.text = cause, text
	return news
}

func (w *waitReason) get() (Cause, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cause, w.text
}

// noteWait records what a handoff waits for, and logs a change of the cause.
func (e *Engine) noteWait(t *transfer, cause Cause, text string) {
	if t.wait.set(cause, text) && cause != NotWaiting {
		e.cfg.Logger.Info("a handoff waits", "handoff", t.id, "node", t.to, "cause", cause.String(), "for", text)
	}
}
