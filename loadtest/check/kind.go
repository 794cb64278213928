package check

import "github.com/ringside-kv/ringside/loadtest/workload"

// A Kind is what the model understands of a command.
type Kind uint8

const (
	// Ignored: it changes nothing, and its answer is not judged.
	Ignored Kind = iota
	// Get: GET and MGET.
	Get
	// Set: SET and MSET of stamped values.
	Set
	// Zero: SET of the number 0, before anybody counts.
	Zero
	// GetSet: GETSET of a stamped value.
	GetSet
	// SetNX: SETNX of a stamped value.
	SetNX
	// Delete: DEL and UNLINK.
	Delete
	// Exists: EXISTS and TOUCH.
	Exists
	// Incr: INCR.
	Incr
	// Other: it may do anything to its keys, which are not judged any more.
	Other
)

var kinds = map[string]Kind{
	"GET": Get, "MGET": Get, "SET": Set, "MSET": Set, "GETSET": GetSet, "SETNX": SetNX,
	"DEL": Delete, "UNLINK": Delete, "EXISTS": Exists, "TOUCH": Exists, "INCR": Incr,
}

// KindOf is the kind of a command of a mix whose values are stamped.
func KindOf(c *workload.Command) Kind {
	kind := kinds[c.Name]
	switch {
	case c.Plain && kind != Ignored:
		return kind
	case c.Writes:
		return Other
	}
	return Ignored
}

// writes reports whether a value, or its absence, is written.
func (k Kind) writes() bool {
	return k == Set || k == Zero || k == GetSet || k == SetNX || k == Delete
}

// reads reports whether the answer is judged.
func (k Kind) reads() bool {
	return k == Get || k == GetSet || k == SetNX || k == Exists || k == Incr
}
