package command

import (
	"errors"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// Error replies that more than one command gives, in Redis' words.
const (
	MsgSyntax        = "ERR syntax error"
	MsgNotInteger    = "ERR value is not an integer or out of range"
	MsgNotPositive   = "ERR value is out of range, must be positive"
	msgCountRange    = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
	MsgNotFloat      = "ERR value is not a valid float"
	MsgWrongType     = "WRONGTYPE Operation against a key holding the wrong kind of value"
	MsgNoKey         = "ERR no such key"
	MsgOffset        = "ERR offset is out of range"
	MsgBitOffset     = "ERR bit offset is not an integer or out of range"
	MsgTooLong       = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
	MsgReplyTooLarge = "ERR the reply is larger than a client's output buffer may be; GET and GETRANGE have no such limit"
	MsgNoAuth        = "NOAUTH Authentication required."
	MsgUnitTooLarge  = "ERR the script or transaction changes more than there is memory for (client-memory)"
	MsgOverflow      = "ERR increment or decrement would overflow"
	MsgOOM           = "OOM command not allowed when used memory > 'maxmemory'."
	MsgKeyTooLong    = "ERR key is too long"
	MsgFieldTooLong  = "ERR field or member is too long (max-key-size)"
	MsgNameTooLong   = "ERR the name of a group or consumer is too long (max-key-size)"
	MsgHeld          = "TRYAGAIN not all copies have the last write to the key yet"
	MsgHeldWrite     = "UNKNOWN The write is made here, but not on all copies yet: it may be lost"
	MsgNoDatabase    = "ERR DB index is out of range"
	MsgDatabaseRange = "ERR value is out of range, value must between -2147483648 and 2147483647"
	MsgMoving        = "TRYAGAIN the key is changing hands"
	msgInvalidTime   = "ERR invalid expire time in '%s' command"
)

// ErrorText turns an error of the store, or of an order to the cluster, into a reply: the one place where this
// happens.
func ErrorText(err error) string {
	var reply ReplyError
	var limit LimitError
	var unknown UnknownError
	switch {
	case errors.As(err, &reply):
		return string(reply)
	case errors.As(err, &limit):
		return string(limit)
	case errors.Is(err, store.ErrUnacked):
		return MsgHeldWrite
	case errors.Is(err, store.ErrUnknown):
		return "UNKNOWN The write may or may not have been made durable: " + err.Error()
	case errors.Is(err, store.ErrReadOnly):
		return "MISCONF Writes are refused, reads go on: " + err.Error()
	case errors.Is(err, store.ErrDamaged):
		return "ERR the stored value cannot be read: " + err.Error()
	case errors.Is(err, collection.ErrType):
		return MsgWrongType
	case errors.As(err, &unknown):
		return string(unknown)
	case errors.Is(err, agreed.ErrUnknown):
		return "UNKNOWN " + err.Error()
	case errors.Is(err, ErrMoved), errors.Is(err, store.ErrFollows):
		return MsgMoving
	case errors.Is(err, store.ErrCursor):
		return "ERR invalid cursor"
	}
	return "ERR " + err.Error()
}

// Fail appends the error reply for an error of the store.
func (x *Call) Fail(err error) {
	if errors.Is(err, store.ErrNotWhole) {
		x.RefuseRequest = MsgUnitTooLarge
		return
	}
	if errors.Is(err, store.ErrUnacked) && x.Row.Flags&FlagWrite == 0 {
		x.Error(MsgHeld)
		return
	}
	if x.Host.Failed(err) {
		return
	}
	var limit LimitError
	x.RefusedByLimit = x.RefusedByLimit || errors.As(err, &limit)
	x.Error(ErrorText(err))
	x.dropRoom()
}

// A LimitError is an error reply about a limit of this server that Redis does not have.
type LimitError string

// Error implements error.
func (e LimitError) Error() string { return string(e) }

// ErrMoved says that ranges have changed hands before or during something that has changed
// nothing. A node that was asked by another answers that it has not done it.
var ErrMoved = errors.New("ranges have changed hands")

// An UnknownError is an error reply to a write that may have been made.
type UnknownError string

// A ReplyError is an error reply as the client is to see it, its code first.
type ReplyError string

// Error implements error.
func (e ReplyError) Error() string { return string(e) }

// Error implements error.
func (e UnknownError) Error() string { return string(e) }
