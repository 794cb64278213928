package replica

import (
	"errors"
	"sync"

	"github.com/ringside-kv/ringside/replica/stream"
	"github.com/ringside-kv/ringside/replica/table"
)

// A Cause is the kind of what a handoff waits for, one of a few: for metrics and logs,
// where [Progress.Waits] says it in words for people.
type Cause uint8

// Causes.
const (
	NotWaiting  Cause = iota // it waits for nothing
	Paused                   // an operator has paused the moving of data
	Queued                   // other handoffs come first, to the receiver or of the same ranges
	Cutover                  // clients would have had to wait too long at a cutover
	Unreachable              // the receiver is not there, does not answer or does not keep up
	Refused                  // the receiver has given up, for want of disk space, say
	TableFailed              // the table does not answer, or has refused
	Other                    // something failed at this node

	causes
)

// Causes are all but [NotWaiting].
func Causes() []Cause {
	var all []Cause
	for c := Paused; c < causes; c++ {
		all = append(all, c)
	}
	return all
}

// String is a word in lower case, empty for [NotWaiting].
func (c Cause) String() string {
	if c >= causes {
		c = Other
	}
	return [causes]string{"", "paused", "turn", "cutover", "unreachable", "refused", "agreement", "other"}[c]
}

// causeOf is why a try has failed.
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

// waitReason is what a handoff waits for. The zero value waits for nothing.
type waitReason struct {
	mu    sync.Mutex
	cause Cause
	text  string
}

// set notes what it waits for, in a word and for people, and tells whether that is of
// another kind than before.
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

// noteWait notes what a handoff waits for, and has it in the log whenever that becomes
// something else.
func (e *Engine) noteWait(t *transfer, cause Cause, text string) {
	if t.wait.set(cause, text) && cause != NotWaiting {
		e.cfg.Logger.Info("a handoff waits", "handoff", t.id, "node", t.to, "cause", cause.String(), "for", text)
	}
}
