package resp

import (
	"errors"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

// A Status says what became of one forwarded request. It travels beside the reply, so that
// no bytes which a command, a script or a value can choose are ever taken for it.
type Status byte

const (
	// StatusRun: the request was executed, and the reply is its own, an error of it included.
	StatusRun Status = iota
	// StatusNotRun: nothing of the request was executed, so it may be sent again.
	StatusNotRun
	// StatusUnknown: the request may have been executed, or may have been in part.
	StatusUnknown
	// StatusWaits: the request waits at the node, as its remote waiter.
	StatusWaits
	// StatusLeft: the remote waiter waits no longer, and was not served.
	StatusLeft
	// StatusGone: the node knows no such remote waiter; the reply names the node's run.
	StatusGone
	// StatusLate: as StatusNotRun, since the request was given up before it could begin, by the
	// serving node's clock.
	StatusLate
)

// notRun tells that nothing of the request was executed, so that it may be sent again.
func (s Status) notRun() bool { return s == StatusNotRun || s == StatusLate }

// Status is that of reply i.
func (r *Replies) Status(i int) Status {
	if i >= len(r.Statuses) {
		return StatusRun
	}
	return r.Statuses[i]
}

// setStatus sets the status of reply i. Replies behind the end of the list were run.
func setStatus(list []Status, i int, s Status) []Status {
	for len(list) <= i {
		list = append(list, StatusRun)
	}
	list[i] = s
	return list
}

// errNotRun says that a node has answered a request that it has not executed.
var errNotRun = &notRunError{}

type notRunError struct{}

func (*notRunError) Error() string        { return "the node has not executed the request" }
func (*notRunError) Is(target error) bool { return target == ErrNotSent }

// status says what an error means for the command that met it, on the node that ran it.
func statusOf(err error) Status {
	var unknown command.UnknownError
	if errors.As(err, &unknown) || errors.Is(err, store.ErrUnacked) || errors.Is(err, store.ErrUnknown) {
		return StatusUnknown
	}
	return StatusRun
}

// says sets the status of the next reply, if another node forwards the request. A command
// within a script or a transaction decides nothing about the whole.
func (x *call) says(s Status) {
	if x.conn.from != nil && !x.InScript && !x.InTransaction {
		x.conn.from.status = s
	}
}
