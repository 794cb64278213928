package resp

import "errors"

// A fate says whether a forwarded request has run. The reply of a write may be lost on its way: the
// client is then told UNKNOWN.
type fate int

const (
	answered fate = iota
	notRun        // it has not run, or it only reads: it may be sent again
	silent        // it only reads, and there is no time to send it again
	unknown       // a write that may or may not have been made
)

// fate returns the fate of the request after its batch failed with err, or got a reply.
func (r *request) fate(err error) fate {
	switch f := writeFate(err); {
	case f != unknown || r.cmd.MayWrite:
		return f
	case errors.Is(err, ErrTimeout):
		return silent
	}
	return notRun // nothing is lost by reading twice
}

// writeFate returns the fate of a request that may write.
func writeFate(err error) fate {
	switch {
	case err == nil:
		return answered
	case errors.Is(err, ErrNotSent):
		return notRun
	}
	return unknown
}

// refusal returns the error reply to a request without a reply.
func (f fate) refusal(err error) string {
	if f == unknown {
		return "UNKNOWN The write may or may not have been made: " + err.Error()
	}
	return msgUnreachable
}
