package resp

import (
	"errors"

	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// Error replies that more than one command gives, in Redis' words.
const (
	msgSyntax        = "ERR syntax error"
	msgNotInteger    = "ERR value is not an integer or out of range"
	msgNotPositive   = "ERR value is out of range, must be positive"
	msgCountRange    = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
	msgNotFloat      = "ERR value is not a valid float"
	msgWrongType     = "WRONGTYPE Operation against a key holding the wrong kind of value"
	msgNoKey         = "ERR no such key"
	msgOffset        = "ERR offset is out of range"
	msgBitOffset     = "ERR bit offset is not an integer or out of range"
	msgTooLong       = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
	msgReplyTooLarge = "ERR the reply is larger than a client's output buffer may be; GET and GETRANGE have no such limit"
	msgNoAuth        = "NOAUTH Authentication required."
	msgUnitTooLarge  = "ERR the script or transaction changes more than there is memory for (client-memory)"
	msgOverflow      = "ERR increment or decrement would overflow"
	msgKeyTooLong    = "ERR key is too long"
	msgFieldTooLong  = "ERR field or member is too long (max-key-size)"
	msgNameTooLong   = "ERR the name of a group or consumer is too long (max-key-size)"
	msgHeld          = "TRYAGAIN not all copies have the last write to the key yet"
	msgHeldWrite     = "UNKNOWN The write is made here, but not on all copies yet: it may be lost"
	msgNoDatabase    = "ERR DB index is out of range"
	msgDatabaseRange = "ERR value is out of range, value must between -2147483648 and 2147483647"
	msgMoving        = "TRYAGAIN the key is changing hands"
	msgInvalidTime   = "ERR invalid expire time in '%s' command"
)

// errorText turns an error of the store into a reply: the one place where this
// happens.
func errorText(err error) string {
	var reply replyError
	var limit limitError
	var unknown unknownError
	switch {
	case errors.As(err, &reply):
		return string(reply)
	case errors.As(err, &limit):
		return string(limit)
	case errors.Is(err, store.ErrHeld):
		return msgHeldWrite
	case errors.Is(err, store.ErrUnknown):
		return "UNKNOWN The write may or may not have been made durable: " + err.Error()
	case errors.Is(err, store.ErrReadOnly):
		return "MISCONF Writes are refused, reads go on: " + err.Error()
	case errors.Is(err, store.ErrDamaged):
		return "ERR the stored value cannot be read: " + err.Error()
	case errors.Is(err, collection.ErrType):
		return msgWrongType
	case errors.As(err, &unknown):
		return string(unknown)
	case errors.Is(err, errMoved), errors.Is(err, store.ErrFollows):
		return msgMoving
	case errors.Is(err, store.ErrCursor):
		return "ERR invalid cursor"
	}
	return "ERR " + err.Error()
}

// fail appends the error reply for an error of the store.
func (x *Call) fail(err error) {
	if errors.Is(err, store.ErrNotWhole) {
		x.refused = msgUnitTooLarge
		return
	}
	if errors.Is(err, store.ErrHeld) && x.cmd.flags&flagWrite == 0 {
		x.Error(msgHeld)
		return
	}
	if x.host.failed(err) {
		return
	}
	var limit limitError
	x.limited = x.limited || errors.As(err, &limit)
	x.Error(errorText(err))
}

// A limitError is an error reply about a limit of this server that Redis does not have.
type limitError string

func (e limitError) Error() string { return string(e) }

// errMoved says that ranges have changed hands before or during something that has changed
// nothing. A node that was asked by another answers that it has not done it.
var errMoved = errors.New("ranges have changed hands")

// An unknownError is an error reply to a write that may have been made.
type unknownError string

// A replyError is an error reply as the client is to see it, its code first.
type replyError string

func (e replyError) Error() string { return string(e) }

func (e unknownError) Error() string { return string(e) }
