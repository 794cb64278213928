package command

import (
	"slices"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/wire"
)

// StoredKeys returns the command and the arguments that do on stored keys what a client's command with
// its arguments does in database n of so many, with their policies; nil where they are the same.
func (t *Table) StoredKeys(cmd *Row, args [][]byte, n, databases int, policies *database.Policies) (*Row, [][]byte) {
	refs, err := cmd.KeysOf(args, nil)
	if err != nil { // the command says what is wrong
		return cmd, nil
	}
	stored := slices.Clone(args)
	for _, ref := range refs {
		stored[ref.Pos] = database.AppendKey(nil, policies.HeadFor(n, args[ref.Pos]), args[ref.Pos])
	}
	switch other, ok := cmd.otherDatabase(args, databases); {
	case cmd.IsOnKey != nil:
		return t.ByName["ring|"+cmd.Name], [][]byte{
			[]byte("RING"), []byte(cmd.Name), args[1], database.AppendKey(nil, policies.HeadFor(n, args[2]), args[2]),
		}
	case cmd.Script && len(refs) == 0:
		if zero, ok := wire.ParseInt(args[2]); ok && zero == 0 && n != 0 {
			stored[2] = database.AppendKey(nil, database.Head(n), nil) // see ScriptKeys
		}
	case !ok:
	case cmd.Name == "move" && other == n: // an error, which the owner of the key gives
	case cmd.Name == "move":
		return t.ByName["ring|move"], [][]byte{
			[]byte("RING"), []byte("MOVE"), stored[1], database.AppendKey(nil, policies.HeadFor(other, args[1]), args[1]),
		}
	default:
		last := refs[len(refs)-1].Pos
		stored[last] = database.AppendKey(nil, policies.HeadFor(other, args[last]), args[last])
	}
	return cmd, stored
}

// otherDatabase returns the database that COPY or MOVE name; false if there is none.
func (c *Row) otherDatabase(args [][]byte, databases int) (int, bool) {
	if c.OtherDatabase == nil {
		return 0, false
	}
	at := c.OtherDatabase(args)
	if at == 0 {
		return 0, false
	}
	n, ok := wire.ParseInt(args[at])
	if !ok || n < 0 || n >= int64(databases) {
		return 0, false
	}
	return int(n), true
}

// ScriptKeys reads the number of keys of a script, and the database that its keys are of, by the policies of its
// unit. A script without keys is told its database in place of the number: it may run on another node.
func ScriptKeys(args [][]byte, policies *database.Policies) (n int64, number int, ok bool) {
	if database.HasMark(args[2]) {
		return 0, database.Of(args[2]), true
	}
	if n, ok = wire.ParseInt(args[2]); n > 0 && len(args) > 3 {
		number = policies.Number(database.HeadOf(args[3]))
	}
	return n, number, ok
}

// ClientKeys returns stored keys as clients know them.
func ClientKeys(stored [][]byte) [][]byte {
	if !slices.ContainsFunc(stored, database.HasMark) {
		return stored
	}
	names := make([][]byte, len(stored))
	for i, key := range stored {
		names[i] = database.Name(key)
	}
	return names
}

// IsTooLong reports whether a stored key is longer than a client's may be.
func (l *Limits) IsTooLong(stored []byte) bool {
	most := l.MaxKey.Load()
	return int64(len(stored)) > most && int64(len(database.Name(stored))) > most
}
