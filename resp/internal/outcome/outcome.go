package outcome

import (
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/relay"
)

// An Outcome is what has become of a command that several nodes do a part of.
//
// Invariant: each part is executed at most once. It is sent again only after its node has
// said that nothing of it was executed. What the client is told is the worst of the parts: a
// part that may have been made outranks one that was refused, which outranks one that was
// made. The order in which the parts are heard of makes no difference.
type Outcome struct {
	Pause   Pause  // before parts that did not run are sent again
	Made    int    // parts that were made
	refusal string // why some part was refused; empty: none was
	unknown string // why some part is unknown; empty: none is
}

// Add takes in the answer to one part of a request: its fate, and with [Answered] the reply
// and its status. again tells that the part was not executed and may be sent once more.
func (o *Outcome) Add(f Fate, reply []byte, status relay.Status, err error) (again bool) {
	switch {
	case f == NotRun:
		return true
	case f == Unknown:
		o.unknown = f.Refusal(err)
	case f != Answered:
		o.Refuse(f.Refusal(err))
	case status == relay.Unknown && len(reply) > 3:
		o.unknown = string(reply[1 : len(reply)-2])
	case len(reply) > 3 && reply[0] == '-':
		o.Refuse(string(reply[1 : len(reply)-2]))
	default:
		o.Made++
	}
	return false
}

// Heard is Add for the error, or none, of a request of this node's own, whose words no client chooses.
func (o *Outcome) Heard(msg string) {
	switch {
	case msg == "":
		o.Made++
	case strings.HasPrefix(msg, "UNKNOWN "):
		o.unknown = msg
	default:
		o.Refuse(msg)
	}
}

// Refuse notes that some part was not executed and will not be.
func (o *Outcome) Refuse(msg string) {
	if o.refusal == "" {
		o.refusal = msg
	}
}

// Over tells that nothing that is still to be sent can make the outcome a better one.
func (o *Outcome) Over() bool { return o.unknown != "" || o.refusal != "" }

// Msg is the error that the client is told, empty if all parts were made. A write is refused
// only if every part of it was.
func (o *Outcome) Msg(write bool) string {
	const part = "UNKNOWN A part of the write has been made, the rest may have been: "
	switch {
	case o.unknown != "" && o.Made > 0 && write:
		return part + o.unknown
	case o.unknown != "":
		return o.unknown
	case o.refusal != "" && o.Made > 0 && write:
		return "UNKNOWN A part of the write has been made, another was refused: " + o.refusal
	}
	return o.refusal
}
