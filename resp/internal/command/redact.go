package command

import (
	"slices"

	"github.com/ringside-kv/ringside/internal/database"
)

// RedactedWord stands for a secret among a command's arguments.
const RedactedWord = "(redacted)"

var redactedWord = []byte(RedactedWord)

// Redacted returns a call's arguments for others to see, in MONITOR and SLOWLOG: with what
// [Row.Hide] names replaced, and with stored keys as clients know them.
func (c *Row) Redacted(args [][]byte) [][]byte {
	if slices.ContainsFunc(args, database.HasMark) {
		args = slices.Clone(args)
		for i := range args {
			if args[i] = database.Name(args[i]); c.Script && i == 2 && len(args[i]) == 0 {
				args[i] = []byte("0") // see ScriptKeys
			}
		}
	}
	if c.Hide == nil {
		return args
	}
	args = slices.Clone(args)
	c.Hide(args, func(from, to int) {
		for i := from; i < min(to, len(args)); i++ {
			args[i] = redactedWord
		}
	})
	return args
}
