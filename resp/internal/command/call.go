package command

import (
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// A Call is one command being executed: its arguments, the unit of the store and the reply
// that it writes. A connection reuses one Call for all its commands, so nothing may keep it, or
// the arguments, after the command.
type Call struct {
	*wire.Writer                   // of the connection
	Row          *Row              // the row, of the subcommand if there is one
	Args         [][]byte          // args[0] is the name as the client wrote it
	Unit         *store.Unit       // begun; for commands with keys only
	Host         Host              // the server that runs it
	Limits       *Limits           // of the server
	Draws        *collection.Draws // random numbers of the server
	// OpenTypes returns nil if values of the types of modules may be written, which all nodes must agree on. It calls
	// mayWait, unless that is nil, before it waits.
	OpenTypes func(mayWait func()) error
	// RunAgain asks for the command to be run once more in a unit of its own,
	// without latches: for reads whose reply is too large to be kept until a
	// pipeline's commit.
	RunAgain bool
	// Apart: this is the run that RunAgain has asked for.
	Apart bool
	// Start is where in Buf the reply begins.
	Start int
	// InTransaction: the command is one of a transaction, which goes on behind it. It neither waits
	// nor asks to be run again.
	InTransaction bool
	// InScript: the command is one of a script.
	InScript bool
	// MorePlaces are places of keys that the command has turned out to need, beside those among
	// its arguments. The command that sets them has changed nothing that Abort does not take
	// back, and the request is run again with their latches, too.
	MorePlaces []store.Place
	// RefuseRequest, if not "", is why the request is to be refused as a whole, under the same rule.
	RefuseRequest string
	// Taken is how many bytes the command has built beside its reply, takenCharged how many of
	// them count for the budget; see Take.
	Taken, takenCharged int64
	// short: what FitsReply has refused last was refused for want of memory.
	short bool
	// RefusedByLimit: the error that the command has replied is one of this server's limits, which
	// Redis does not have.
	RefusedByLimit bool
	// LatchAll: the run that RunAgain asks for holds the latches of all keys there can be.
	LatchAll bool
	// Lookups counts the keys that are looked up.
	Lookups *Lookups
	// Values is scratch space of commands with several keys.
	Values []store.Value
	// Table, List, Stream and ZSet are the collection that a command works on, with its scratch
	// space.
	Table  collection.Table
	List   collection.List
	Stream collection.Stream
	ZSet   collection.ZSet
}

// MayWait tells the connection that its goroutine may wait.
func (x *Call) MayWait() {
	if x.Unit.BeforeDisk != nil {
		x.Unit.BeforeDisk(false)
	}
}

// Lookups counts keys that were found and keys that were not, for INFO's keyspace_hits and
// keyspace_misses.
type Lookups struct{ Hits, Misses int64 }

// A Host is what the server does for a command that runs. Its methods are called by the
// goroutine that runs the command.
type Host interface {
	// RunsAhead reports whether replies must not leave yet.
	RunsAhead() bool
	// Stream replies with bytes off to off+n of the string at key, and sends them as they are read.
	Stream(key []byte, v store.Value, off, n int64)
	// Failed replies to an error of the routing between nodes, and returns true; otherwise it
	// notes what the error says of the outcome.
	Failed(err error) bool
	// Borrow takes n bytes of memory if they are there; spare leaves half of the memory to
	// others; charge may exceed the limit, one connection at a time. They report whether they
	// have taken the bytes.
	Borrow(n int64) bool
	Spare(n int64) bool
	Charge(n int64) bool
	// Release gives bytes back.
	Release(n int64)
	// Block lets the client wait for what the command has not found.
	Block(w Want)
	// Memo is what the command has noted when it was to wait before.
	Memo() []byte
	// Databases is how many databases there are.
	Databases() int
	// ReachesAll reports whether the command may read any key there can be.
	ReachesAll() bool
	// IsHere reports whether a stored key that is not among the arguments is where the command would look for it:
	// keys may move within their database.
	IsHere(stored []byte) bool
}

// StartsAgain reports whether the unit is to be dropped, and its requests are to be run again.
func (x *Call) StartsAgain() bool { return len(x.MorePlaces) > 0 || x.RefuseRequest != "" }

// GetString returns the value of a key. It has replied, and returns false, if the key
// cannot be read or holds something other than a string.
func (x *Call) GetString(key []byte) (store.Value, bool) {
	v, err := x.Unit.Get(key)
	if err != nil {
		x.Fail(err)
		return v, false
	}
	x.CountRead(key, &v)
	if v.Exists() && v.Type != store.String {
		x.Error(MsgWrongType)
		return v, false
	}
	return v, true
}

// ReadString is GetString for commands that write, and that count for readers of the key.
func (x *Call) ReadString(key []byte) (store.Value, bool) {
	v, ok := x.GetString(key)
	if ok {
		x.CountLookup(key, &v)
	}
	return v, ok
}

// CountRead counts a key that a command looked up for its reader as found or not, for
// INFO's keyspace_hits and keyspace_misses. Commands that write look for themselves
// and do not count.
func (x *Call) CountRead(key []byte, v *store.Value) {
	if x.Row.Flags&FlagReadonly != 0 && !x.Apart {
		x.CountLookup(key, v)
	}
}

// CountSource is saw for what a command only reads, whether it writes others or not, and has not
// been counted yet if it does.
func (x *Call) CountSource(key []byte, v *store.Value) {
	if x.Row.Flags&FlagReadonly == 0 {
		x.CountLookup(key, v)
	}
}

// CountLookup is saw for what commands that write only read.
func (x *Call) CountLookup(key []byte, v *store.Value) {
	if v.Exists() {
		x.Lookups.Hits++
	} else {
		x.Lookups.Misses++
		if !x.Row.NoMissEvent {
			x.Unit.Note(store.EventMiss, "keymiss", key)
		}
	}
}
