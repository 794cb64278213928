package resp

import (
	"strconv"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// largeReply is the size of a string, in bytes, from which on its reply is
// streamed instead of kept with the replies of a pipeline, unless a client may be
// kept waiting for less.
const largeReply = 1 << 20

// stringRange replies with bytes off to off+n of the string at key.
func (x *Call) stringRange(key []byte, v store.Value, off, n int64) {
	switch {
	case v.Whole():
		x.Bulk(v.Inline[off : off+n])
	case n <= largeReply && n <= x.limits.outputBuffer.Load()/2:
		x.collectString(key, v, off, n)
	case x.inside && x.keepable(n):
		x.collectString(key, v, off, n)
	case x.inside:
		x.limit(x.overOutputBuffer())
	case x.unit.Latched() || len(x.Buf) > 0 || x.host.runsAhead() && !x.apart:
		x.again = true
	default:
		x.host.stream(key, v, off, n)
	}
}

// keepable reports whether n more bytes of replies may be kept. With more than that
// the connection is closed; so a command that cannot stream its reply asks before
// it changes anything, and answers with msgReplyTooLarge.
func (x *Call) keepable(n int64) bool {
	return int64(len(x.Buf))+n <= x.limits.outputBuffer.Load()
}

// wholeString replies with the whole string at key, at once: for commands that
// also change it. It reports whether it could be read.
func (x *Call) wholeString(key []byte, v store.Value) bool {
	if !x.keepable(v.Size) {
		x.replyTooLarge()
		return false
	}
	if v.Whole() {
		x.Bulk(v.Inline)
		return true
	}
	return x.collectString(key, v, 0, v.Size)
}

func (x *Call) collectString(key []byte, v store.Value, off, n int64) bool {
	at := len(x.Buf)
	var err error
	if x.Buf, err = x.appendBulk(key, v, off, n); err != nil {
		x.Buf = x.Buf[:at]
		x.fail(err)
		return false
	}
	return true
}

// appendBulk returns the reply with part of a string appended; after an error the
// caller takes it back.
func (x *Call) appendBulk(key []byte, v store.Value, off, n int64) ([]byte, error) {
	x.BulkHeader(int(n))
	buf, err := x.unit.ReadRange(key, v, off, n, x.Buf)
	return append(buf, '\r', '\n'), err
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// replyTooLarge replies that the reply would be larger than it may be.
func (x *Call) replyTooLarge() { x.limit(msgReplyTooLarge) }

// limit replies with the error of a limit that Redis does not have.
func (x *Call) limit(msg string) {
	x.limited = true
	x.Error(msg)
}

// abort ends a command with an error after part of its changes is in the unit. They
// cannot be taken back alone: so nothing that the unit changed is committed, and
// all its replies become this error.
func (x *Call) abort(err error) {
	x.unit.Fail(err)
	x.fail(err)
}

// overOutputBuffer is the error for a reply that is larger than may wait for one
// client.
func (x *Call) overOutputBuffer() string {
	return "ERR the reply would exceed the output buffer of " +
		strconv.FormatInt(x.limits.outputBuffer.Load(), 10) + " bytes"
}

func isInt(b []byte) bool {
	_, ok := wire.ParseInt(b)
	return ok
}
