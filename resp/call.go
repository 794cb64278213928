package resp

import (
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// A Call is one command being executed: its arguments, the unit of the store and the reply
// that it writes. A connection reuses one Call for all its commands, so nothing may keep it, or
// the arguments, after the command.
type Call struct {
	*wire.Writer             // of the connection
	cmd          *command    // the row, of the subcommand if there is one
	args         [][]byte    // args[0] is the name as the client wrote it
	unit         *store.Unit // begun; for commands with keys only
	host         host        // the server that runs it
	limits       *Limits     // of the server
	draws        *collection.Draws
	// again asks for the command to be run once more in a unit of its own,
	// without latches: for reads whose reply is too large to be kept until a
	// pipeline's commit.
	again bool
	// apart: this is the run that again has asked for.
	apart bool
	// start is where in buf the reply begins.
	start int
	// inside: the command is one of a transaction, which goes on behind it. It neither waits
	// nor asks to be run again.
	inside bool
	// scripted: the command is one of a script.
	scripted bool
	// wants are places of keys that the command has turned out to need, beside those among
	// its arguments. The command that sets them has changed nothing that Abort does not take
	// back, and the request is run again with their latches, too.
	wants []store.Place
	// refused, if not "", is why the request is to be refused as a whole, under the same rule.
	refused string
	// taken is how many bytes the command has built beside its reply, takenCharged how many of
	// them count for the budget; see takes.
	taken, takenCharged int64
	// limited: the error that the command has replied is one of this server's limits, which
	// Redis does not have.
	limited bool
	// everything: the run that again asks for holds the latches of all keys there can be.
	everything bool
	// lookups counts the keys that are looked up.
	lookups *lookups
	// values is scratch space of commands with several keys.
	values []store.Value
	// table is the one that a command works on, with its scratch space.
	table  collection.Table
	list   collection.List
	stream collection.Stream
	zset   collection.ZSet
}

// lookups counts keys that were found and keys that were not, for INFO's keyspace_hits and
// keyspace_misses.
type lookups struct{ hits, misses int64 }

// A host is what the server does for a command that runs. Its methods are called by the
// goroutine that runs the command.
type host interface {
	// runsAhead reports whether replies must not leave yet.
	runsAhead() bool
	// stream replies with bytes off to off+n of the string at key, and sends them as they are read.
	stream(key []byte, v store.Value, off, n int64)
	// failed replies to an error of the routing between nodes, and returns true; otherwise it
	// notes what the error says of the outcome.
	failed(err error) bool
	// borrow takes n bytes of memory if they are there; spare leaves half of the memory to
	// others; charge may exceed the limit, one connection at a time. They report whether they
	// have taken the bytes.
	borrow(n int64) bool
	spare(n int64) bool
	charge(n int64) bool
	// release gives bytes back.
	release(n int64)
	// block lets the client wait for what the command has not found.
	block(w want)
	// memo is what the command has noted when it was to wait before.
	memo() []byte
	// reachesAll reports whether the command may read any key there can be.
	reachesAll() bool
}

// startsAgain reports whether the unit is to be dropped, and its requests are to be run again.
func (x *Call) startsAgain() bool { return len(x.wants) > 0 || x.refused != "" }

// getString returns the value of a key. It has replied, and returns false, if the key
// cannot be read or holds something other than a string.
func (x *Call) getString(key []byte) (store.Value, bool) {
	v, err := x.unit.Get(key)
	if err != nil {
		x.fail(err)
		return v, false
	}
	x.saw(key, &v)
	if v.Exists() && v.Type != store.String {
		x.Error(msgWrongType)
		return v, false
	}
	return v, true
}

// readString is getString for commands that write, and that count for readers of the key.
func (x *Call) readString(key []byte) (store.Value, bool) {
	v, ok := x.getString(key)
	if ok {
		x.looked(key, &v)
	}
	return v, ok
}

// saw counts a key that a command looked up for its reader as found or not, for
// INFO's keyspace_hits and keyspace_misses. Commands that write look for themselves
// and do not count.
func (x *Call) saw(key []byte, v *store.Value) {
	if x.cmd.flags&flagReadonly != 0 && !x.apart {
		x.looked(key, v)
	}
}

// source is saw for what a command only reads, whether it writes others or not, and has not
// been counted yet if it does.
func (x *Call) source(key []byte, v *store.Value) {
	if x.cmd.flags&flagReadonly == 0 {
		x.looked(key, v)
	}
}

// looked is saw for what commands that write only read.
func (x *Call) looked(key []byte, v *store.Value) {
	if v.Exists() {
		x.lookups.hits++
	} else {
		x.lookups.misses++
		if x.cmd.parent == nil || x.cmd.parent.name != "object" { // OBJECT tells nobody
			x.unit.Note(store.EventMiss, "keymiss", key)
		}
	}
}
