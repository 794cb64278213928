package scripts

import (
	"bytes"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/functions"
	"github.com/ringside-kv/ringside/resp/script"
)

// A Named is what is known of the script or function that a call runs.
type Named struct {
	Flags   script.Flags
	Flagged bool // Flags are what it says of itself; else it says nothing
	Astray  bool // it has once needed a key that it had not declared
}

// Named returns what is known of the script, or of the function of a set, that a call runs whose first argument is name:
// nothing of one that is unknown. A script that comes as text is compiled for it if compile is set.
func (s *Cache) Named(cmd *command.Row, name []byte, set *functions.Set, compile bool) Named {
	if cmd.CallsFunction {
		f := set.Find(name)
		if f == nil {
			return Named{}
		}
		return Named{Flags: f.Flags, Flagged: true, Astray: f.Astray.Load()}
	}
	var k *Script
	switch {
	case cmd.BySHA:
		k = s.Called(name)
	case compile:
		k, _ = s.Compile(name, false) // whoever runs it says what is wrong
	default:
		k = s.Find(name)
	}
	if k == nil {
		return Named{}
	}
	return Named{Flags: k.Flags, Flagged: k.Flagged, Astray: k.Astray.Load()}
}

// MayOnlyRead reports whether the script or function may run where nothing can be written: it says that it does not write,
// or nothing of itself.
func (n Named) MayOnlyRead() bool { return !n.Flagged || n.Flags&script.NoWrites != 0 }

// The errors of a command that writes: in a script that may not, and at a replica.
const (
	MsgReadOnly  = "ERR Write commands are not allowed from read-only scripts."
	MsgAtReplica = "READONLY You can't write against a read only replica."
)

// AsAtReplica returns the reply to a script that ran as one that may not write with the error that Redis has at a
// replica.
func AsAtReplica(reply []byte) []byte {
	rest, ok := bytes.CutPrefix(reply, []byte("-"+MsgReadOnly))
	if !ok {
		return reply
	}
	return append([]byte("-"+MsgAtReplica), rest...)
}
