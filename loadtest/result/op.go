package result

import "time"

// An Outcome is what became of an operation.
type Outcome uint8

const (
	// Done: it was answered, and not with an error.
	Done Outcome = iota
	// Wrong: it was answered with an error that is the request's own fault. The key can be
	// used.
	Wrong
	// Refused: it failed and was certainly not executed, or only reads.
	Refused
	// Unknown: it failed, and may have been executed, or may still be.
	Unknown
)

// Failed reports whether it is not as it should be.
func (o Outcome) Failed() bool { return o != Done }

// unserved reports whether the key could not be used.
func (o Outcome) unserved() bool { return o == Refused || o == Unknown }

// An Op is one operation that has ended. Times are counted from the beginning of the
// series.
type Op struct {
	// Begin is when it was to begin, and Sent when it was sent: in a closed loop the same, unless the
	// client had to connect first.
	Begin, Sent time.Duration
	// Command is which of [Config.Commands] it is.
	Command int
	// Keys are the numbers of its keys.
	Keys []int64
	// Outcome is what became of it, and Answered whether there was a reply at all.
	Outcome  Outcome
	Answered bool
	// Redirected is how many redirects it came upon.
	Redirected int64
	// Read and Written are the bytes of the reply and of the command.
	Read, Written int64
}
