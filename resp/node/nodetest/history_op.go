package nodetest

import (
	"fmt"
	"time"
)

// An Op is one command of a client and what became of it.
type Op struct {
	Client             string
	Node               string // that it was sent to
	Command, Key, Arg  string
	Reply              string // "" is no value
	Unknown            bool   // it may have been done, or may be at any time after
	Why                string // the error of an unknown outcome
	asked, answered    int64  // places in the order of all that happened; answered is 0 for never
	AskedAt, AnswerdAt time.Duration
}

// String returns the operation as one line of a history: times in seconds, client, node, command, reply.
func (o *Op) String() string {
	reply := fmt.Sprintf("%.40q", o.Reply)
	if o.Unknown {
		reply = "unknown: " + o.Why
	}
	return fmt.Sprintf("%9.3fs %9.3fs %-6s at %-3s %s %s %.40s -> %s",
		o.AskedAt.Seconds(), o.AnswerdAt.Seconds(), o.Client, o.Node, o.Command, o.Key, o.Arg, reply)
}

// writes reports whether it may change the key.
func (o *Op) writes() bool { return o.Command != "GET" && o.Command != "STRLEN" }
