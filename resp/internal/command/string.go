package command

import (
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// LargeReply is the size of a string, in bytes, from which on its reply is
// streamed instead of kept with the replies of a pipeline, unless a client may be
// kept waiting for less.
const LargeReply = 1 << 20

// StringRange replies with bytes off to off+n of the string at key.
func (x *Call) StringRange(key []byte, v store.Value, off, n int64) {
	switch {
	case v.Whole():
		x.Bulk(v.Inline[off : off+n])
	case n <= LargeReply && n <= x.Limits.OutputBuffer.Load()/2:
		x.collectString(key, v, off, n)
	case x.InTransaction && x.FitsReply(n):
		x.collectString(key, v, off, n)
	case x.InTransaction:
		x.RefuseByLimit(x.OverOutputBuffer())
	case x.Unit.Latched() || len(x.Buf) > 0 || x.Host.RunsAhead() && !x.Apart:
		x.RunAgain = true
	default:
		x.Host.Stream(key, v, off, n)
	}
}

// FitsReply reports whether n more bytes of replies may be kept. With more than that
// the connection is closed; so a command that cannot stream its reply asks before
// it changes anything, and answers with ReplyTooLarge. A large reply is charged before it
// is built, until the command ends: then its buffer counts.
func (x *Call) FitsReply(n int64) bool {
	size := int64(len(x.Buf)) + n
	x.short = false
	if size > x.Limits.OutputBuffer.Load() {
		return false
	}
	x.short = size > LargeReply && !x.TakeUpTo(size)
	return !x.short
}

// FitsElement is FitsReply for an element of a reply whose size was estimated. It returns the error
// to reply with.
func (x *Call) FitsElement(element []byte) error {
	if x.FitsReply(int64(len(element)) + ElementReply) {
		return nil
	}
	return LimitError(x.OverOutputBuffer())
}

// WholeString replies with the whole string at key, at once: for commands that
// also change it. It reports whether it could be read.
func (x *Call) WholeString(key []byte, v store.Value) bool {
	if !x.FitsReply(v.Size) {
		x.ReplyTooLarge()
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
	if x.Buf, err = x.AppendBulk(key, v, off, n); err != nil {
		x.Buf = x.Buf[:at]
		x.Fail(err)
		return false
	}
	return true
}

// AppendBulk returns the reply with part of a string appended; after an error the
// caller takes it back.
func (x *Call) AppendBulk(key []byte, v store.Value, off, n int64) ([]byte, error) {
	x.BulkHeader(int(n))
	buf, err := x.Unit.ReadRange(key, v, off, n, x.Buf)
	return append(buf, '\r', '\n'), err
}

// AppendInt appends a decimal number.
func AppendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// ReplyTooLarge replies that the reply would be larger than it may be, as FitsReply has found.
func (x *Call) ReplyTooLarge() { x.RefuseByLimit(string(x.TooLarge())) }

// TooLarge is the error of ReplyTooLarge.
func (x *Call) TooLarge() LimitError {
	if x.short {
		return MsgNoMemory
	}
	return MsgReplyTooLarge
}

// RefuseByLimit replies with the error of a limit that Redis does not have.
func (x *Call) RefuseByLimit(msg string) {
	x.RefusedByLimit = true
	x.Error(msg)
	x.dropRoom()
}

// dropRoom gives back the memory of a reply that was refused while it was built: its buffer would count.
func (x *Call) dropRoom() {
	if x.short && cap(x.Buf) > len(x.Buf)+LargeReply/4 {
		x.Buf = slices.Clone(x.Buf)
	}
}

// Abort ends a command with an error after part of its changes is in the unit. They
// cannot be taken back alone: so nothing that the unit changed is committed, and
// all its replies become this error.
func (x *Call) Abort(err error) {
	x.Unit.Fail(err)
	x.Fail(err)
}

// OverOutputBuffer is the error for a reply that is larger than may wait for one
// client, or than there is memory for, as FitsReply has found.
func (x *Call) OverOutputBuffer() string {
	if x.short {
		return MsgNoMemory
	}
	return "ERR the reply would exceed the output buffer of " +
		strconv.FormatInt(x.Limits.OutputBuffer.Load(), 10) + " bytes"
}

// IsInt reports whether a value is one that Redis keeps as an integer.
func IsInt(b []byte) bool {
	_, ok := wire.ParseInt(b)
	return ok
}
