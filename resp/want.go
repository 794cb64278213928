package resp

import (
	"time"

	"github.com/ringside-kv/ringside/store"
)

// A want is what a command waits for, and how it gets it.
type want struct {
	// timeout is for how long; 0 is for ever.
	timeout time.Duration
	keys    [][]byte
	// also are keys that serve writes to beside the one that has got something.
	also [][]byte
	typ  store.Type // of values that are wanted
	// ready tells whether the value of a key, which is of the type, is wanted; nil if any is.
	// It changes nothing.
	ready func(x *Call, key []byte) bool
	// serve takes what it wants from the value of a key, and replies. It runs in the unit of
	// somebody else, as a call with the command's own arguments; it must not keep the call
	// that it was made by.
	serve func(x *Call, key []byte)
	// gone replies where a key has no value of the type any more, if that ends the wait; else
	// it is nil.
	gone func(x *Call, key []byte)
	// memo is what the command is to be told when it is run again, elsewhere perhaps.
	memo []byte
}
