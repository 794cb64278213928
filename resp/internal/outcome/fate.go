package outcome

import (
	"errors"

	"github.com/ringside-kv/ringside/resp/internal/relay"
)

// A Fate says whether a forwarded request has run. The reply of a write may be lost on its way: the
// client is then told UNKNOWN.
type Fate int

// The fates of a request.
const (
	Answered Fate = iota
	NotRun        // it has not run, or it only reads: it may be sent again
	Silent        // it only reads, and there is no time to send it again
	Unknown       // a write that may or may not have been made
)

// MsgUnreachable is the error reply to a request that no node has run.
const MsgUnreachable = "TRYAGAIN the node that serves the key cannot be reached"

// ErrNotRun says that a node has answered a request that it has not executed. It matches [relay.ErrNotSent].
var ErrNotRun error = &notRunError{}

type notRunError struct{}

func (*notRunError) Error() string        { return "the node has not executed the request" }
func (*notRunError) Is(target error) bool { return target == relay.ErrNotSent }

// WriteFate returns the fate of a request that may write.
func WriteFate(err error) Fate {
	switch {
	case err == nil:
		return Answered
	case errors.Is(err, relay.ErrNotSent):
		return NotRun
	}
	return Unknown
}

// ReadFate returns the fate of a request that only reads: nothing is lost by reading twice.
func ReadFate(err error) Fate {
	switch {
	case err == nil:
		return Answered
	case errors.Is(err, relay.ErrTimeout):
		return Silent
	}
	return NotRun
}

// Refusal returns the error reply to a request without a reply.
func (f Fate) Refusal(err error) string {
	if f == Unknown {
		return "UNKNOWN The write may or may not have been made: " + err.Error()
	}
	return MsgUnreachable
}
