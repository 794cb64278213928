package relay

import (
	"errors"
	"time"
)

// Errors of a [Link].
var (
	// ErrNotSent says that no byte of a batch has left: it may be sent again.
	ErrNotSent = errors.New("not sent")
	// ErrUnknownOutcome says that a batch may or may not have been run.
	ErrUnknownOutcome = errors.New("outcome unknown")
	// ErrTimeout says that a node has not answered in time.
	ErrTimeout = errors.New("timeout")
)

// A Link forwards requests to another node. It is used by many connections at once.
type Link interface {
	// Way returns a way there for one connection.
	Way() Way
}

// Terms are how a client wants its replies.
type Terms struct {
	// RESP3 is their form.
	RESP3 bool
	// Early: those to writes need not wait for backups.
	Early bool
	// Keeps says that clients of this node keep what is read: whoever serves it is to say
	// when it changes. Author is which of them writes, if that one is not to be told, else 0.
	Keeps  bool
	Author int64
	// NoTouch: the requests are no use of their keys.
	NoTouch bool
	// Known is how many swaps of databases the sender knows of, plus the version of REPLICAOF that it knows of. The heads
	// of its keys are by these swaps. A node that knows of more or less does not run what has keys. So one that has not
	// heard of REPLICAOF, as one that was stopped, writes nothing elsewhere for its clients.
	Known uint64
	// Atomic: an error undoes the transaction or script that is sent. A node of an older version is not sent it.
	Atomic bool
	// Part: the requests are parts of one that the sender counts in its statistics, so that the receiver does not. A
	// node of an older version does.
	Part bool
	// InOrder: the batch goes by the connection of all such ones, so that it arrives behind those that were sent before.
	InOrder bool
	// Trace is the context of a trace that the requests belong to; nil: none. See package trace.
	Trace []byte
}

// A Way carries one batch at a time to another node. It belongs to one goroutine.
type Way interface {
	// Send sends a batch: whole RESP requests, so many of them, each with one reply. It
	// does not wait. The batch must stay as it is until Wait has returned; after an
	// error, which is one of a Link, there is nothing to wait for. Else arrived, unless
	// nil, is called once, from any goroutine, as soon as Wait returns at once: it does
	// not wait for anything, and sends nothing.
	Send(batch []byte, requests int, terms Terms, timeout time.Duration, arrived func()) error
	// Wait returns the replies, which are valid until the next Send, or an error of a
	// Link.
	Wait() (Replies, error)
}

// Replies are the raw replies to a batch, in order.
type Replies struct {
	Bytes []byte
	Ends  []int // where each of them ends
	// Statuses are those of the first replies; the others have Run.
	Statuses []Status
	// At is when they arrived; zero if that is not known.
	At time.Time
}
