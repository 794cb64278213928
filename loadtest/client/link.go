package client

import (
	"time"

	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A link is the way of one client's commands to servers. It belongs to one goroutine.
type link interface {
	// ready connects, if need be, for as long as it takes; false if the load ends. If the load ends while
	// the link cannot connect, it is true, and what is sent fails: an operation has waited for the server.
	ready() bool
	// add takes a command that is to be sent, and returns its length in bytes.
	add(op *workload.Op) int
	// exchange sends what was added, and tells the worker what becomes of each, in order.
	exchange(w *worker)
	close()
}

// An outcome is what became of a command.
type outcome struct {
	// reply is nil if there is none. Then sent tells whether a server can have got the
	// command.
	reply      *wire.Reply
	sent       bool
	at         time.Duration // since the load was opened
	redirected int64         // redirects that were followed
}
