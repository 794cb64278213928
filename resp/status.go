package resp

import (
	"errors"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/store"
)

// The statuses of a request; see package relay.
const (
	StatusRun     = relay.Run
	StatusNotRun  = relay.NotRun
	StatusUnknown = relay.Unknown
	StatusWaits   = relay.Waits
	StatusLeft    = relay.Left
	StatusGone    = relay.Gone
	StatusLate    = relay.Late
)

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
	if asksNode(x) {
		x.conn.from.status = s
	}
}

// asksNode reports whether another node has sent the command that runs. What a script or a transaction runs is
// a client's, wherever it runs: it has the words and replies of clients.
func asksNode(x *call) bool { return x.conn.from != nil && !x.InScript && !x.InTransaction }
