package command

import (
	"time"

	"github.com/ringside-kv/ringside/store"
)

// A Want is what a command waits for, and how it gets it.
type Want struct {
	// Timeout is for how long; 0 is for ever.
	Timeout time.Duration
	Keys    [][]byte
	// Also are keys that serve writes to beside the one that has got something.
	Also [][]byte
	Type store.Type // of values that are wanted
	// Ready tells whether the value of a key, which is of the type, is wanted; nil if any is.
	// It changes nothing.
	Ready func(x *Call, key []byte) bool
	// Serve takes what it wants from the value of a key, and of others that the unit has the latches of, and replies.
	// It runs in the unit of another command, as a call with the command's own arguments; it must not keep the call
	// that it was made by.
	Serve func(x *Call, key []byte)
	// Gone returns the error reply where a key is gone or has another type, if that ends the wait;
	// else it is nil.
	Gone func(key []byte, exists bool) string
	// Memo is what the command is to be told when it is run again, elsewhere perhaps.
	Memo []byte
	// Alarm has the command run again at a time that Ready finds; nil if none does.
	Alarm *Alarm
}
