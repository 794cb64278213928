package resp

import (
	"time"

	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// A call is one command being executed: its arguments, the connection it came
// from and the reply that it writes. A connection reuses one call for all its
// commands, so nothing may keep it, or the arguments, after the command.
type call struct {
	*reply             // of the connection
	cmd    *command    // the row, of the subcommand if there is one
	args   [][]byte    // args[0] is the name as the client wrote it
	unit   *store.Unit // begun; for commands with keys only
	srv    *Server
	conn   *conn
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
	// its arguments: whoever sets them has changed nothing that Abort does not take back, and
	// the request is run again with their latches, too.
	wants []store.Place
	// refused, if not "", is why the request is to be refused as a whole, under the same rule.
	refused string
	// taken is how many bytes the command has built beside its reply, takenCharged how many of
	// them count for the budget; see takes.
	taken, takenCharged int64
	// limited: the error that the command has replied is one of this server's limits, which
	// Redis does not have.
	limited bool
	// touched are keys that a script may have written to, if anybody waits for any.
	touched [][]byte
	// everything: the run that again asks for holds the latches of all keys there can be.
	everything bool
	// req is what runs, if it is a request of a client.
	req *request
	// waiter is how the command waits, if it has found nothing.
	waiter *waiter
	// values is scratch space of commands with several keys.
	values []store.Value
	// agreed is what the command is to cover, if it is a part of one on all keys.
	agreed agreed
	// waited is time that the command has spent waiting, not working.
	waited time.Duration
	// then, if set by a command that works on no keys, is called before its reply leaves;
	// what is pushed to the client from then on leaves after it.
	then func()
	// table is the one that a command works on, with its scratch space.
	table  collection.Table
	list   collection.List
	stream collection.Stream
	zset   collection.ZSet
}

// startsAgain reports whether the unit is to be dropped, and its requests are to be run again.
func (x *call) startsAgain() bool { return len(x.wants) > 0 || x.refused != "" }

// getString returns the value of a key. It has replied, and returns false, if the key
// cannot be read or holds something other than a string.
func (x *call) getString(key []byte) (store.Value, bool) {
	v, err := x.unit.Get(key)
	if err != nil {
		x.fail(err)
		return v, false
	}
	x.saw(key, &v)
	if v.Exists() && v.Type != store.String {
		x.err(msgWrongType)
		return v, false
	}
	return v, true
}

// readString is getString for commands that write, and that count for readers of the key.
func (x *call) readString(key []byte) (store.Value, bool) {
	v, ok := x.getString(key)
	if ok {
		x.looked(key, &v)
	}
	return v, ok
}

// saw counts a key that a command looked up for its reader as found or not, for
// INFO's keyspace_hits and keyspace_misses. Commands that write look for themselves
// and do not count.
func (x *call) saw(key []byte, v *store.Value) {
	if x.cmd.flags&flagReadonly != 0 && !x.apart {
		x.looked(key, v)
	}
}

// source is saw for what a command only reads, whether it writes others or not, and has not
// been counted yet if it does.
func (x *call) source(key []byte, v *store.Value) {
	if x.cmd.flags&flagReadonly == 0 {
		x.looked(key, v)
	}
}

// looked is saw for what commands that write only read.
func (x *call) looked(key []byte, v *store.Value) {
	if v.Exists() {
		x.conn.uncounted.hits++
	} else {
		x.conn.uncounted.misses++
		if x.cmd.parent == nil || x.cmd.parent.name != "object" { // OBJECT tells nobody
			x.unit.Note(store.EventMiss, "keymiss", key)
		}
	}
}
