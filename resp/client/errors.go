package client

import "errors"

// What became of the commands of a [Call] or of a [Ring] that failed. Every error of
// Wait and Send matches exactly one of the two.
var (
	// ErrNotSent: no byte of the call reached the peer, or the peer said that it
	// executed nothing; it is safe to send it again.
	ErrNotSent = errors.New("commands were not executed")
	// ErrUnknownOutcome: the peer may have executed none, some or all of it. Only
	// reads may be repeated.
	ErrUnknownOutcome = errors.New("outcome unknown")
)

// Why a call failed.
var (
	// ErrTimeout: the call's Timeout passed before the reply came.
	ErrTimeout = errors.New("timed out")
	// ErrClosed: the Peer or the Ring was closed.
	ErrClosed = errors.New("closed")
	// ErrDown: there is no connection to the peer.
	ErrDown = errors.New("peer is unreachable")
	// ErrRefused: the peer did not execute the call, and said why.
	ErrRefused = errors.New("refused by the peer")
	// ErrTooLarge: a frame would be longer than MaxFrame.
	ErrTooLarge = errors.New("frame too large")
	// ErrProtocol: what came breaks the rules of the frames; the connection ends.
	ErrProtocol = errors.New("broken frame")
	// ErrInUse: the Call is still waiting for its reply.
	ErrInUse = errors.New("call is in use")
	// ErrEmpty: the Call has no commands, or more of them than bytes.
	ErrEmpty = errors.New("number of commands does not fit their bytes")
	// ErrReply: what came is no reply in RESP, or a larger one than is allowed; the
	// connection ends.
	ErrReply = errors.New("broken reply")
	// ErrUnshared: the command would change what others get who share the connection,
	// or make them wait: it needs a connection of its own.
	ErrUnshared = errors.New("command needs a connection of its own")
)

// A callError is an outcome and its cause. One value serves all calls that fail for
// the same cause.
type callError struct{ outcome, cause error }

func (e *callError) Error() string   { return e.cause.Error() + ": " + e.outcome.Error() }
func (e *callError) Unwrap() []error { return []error{e.outcome, e.cause} }

func notSent(cause error) error { return &callError{ErrNotSent, cause} }
func unknown(cause error) error { return &callError{ErrUnknownOutcome, cause} }

// errPeerEnds says that the peer reads no more calls, and which it has read.
var errPeerEnds = errors.New("the peer takes no more calls")

// The errors of the hot path.
var (
	errTimeoutNotSent = notSent(ErrTimeout)
	errNotAtomic      = notSent(errors.New("the node is of an older version, which does not undo transactions"))
	errTimeoutUnknown = unknown(ErrTimeout)
	errInUse          = notSent(ErrInUse)
	errEmpty          = notSent(ErrEmpty)
	errTooLarge       = notSent(ErrTooLarge)
	errUnsent         = notSent(errors.New("not sent"))
	errNothing        = notSent(errors.New("command without a name"))
)

// A PeerError is what the peer says of a call that it gives no replies to.
type PeerError struct {
	Text string // not RESP; the peer's words
	// Executed: the peer cannot say that nothing was executed.
	Executed bool
}

// Error returns the peer's text, and whether the request was executed.
func (e *PeerError) Error() string {
	if e.Executed {
		return "peer has no reply: " + e.Text
	}
	return "refused by the peer: " + e.Text
}

// Unwrap gives the outcome, and ErrRefused if nothing was executed.
func (e *PeerError) Unwrap() []error {
	if e.Executed {
		return []error{ErrUnknownOutcome}
	}
	return []error{ErrNotSent, ErrRefused}
}

// clip shortens broken input for an error.
func clip(b []byte) []byte { return b[:min(len(b), 40)] }
