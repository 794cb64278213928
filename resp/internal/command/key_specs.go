package command

import "github.com/ringside-kv/ringside/resp/wire"

// OneKey is the key specification of a command whose first argument is its key.
func OneKey(flags string) []KeySpec {
	return []KeySpec{{Flags: flags, Index: 1, Step: 1}}
}

// SubKey is that of a subcommand with one key as its first argument.
func SubKey(flags string) []KeySpec {
	return []KeySpec{{Flags: flags, Index: 2, Step: 1}}
}

// AllKeys is that of a command whose arguments are all keys.
func AllKeys(flags string) []KeySpec {
	return []KeySpec{{Flags: flags, Index: 1, Last: -1, Step: 1}}
}

// NoKey is for specifications of keys that cannot be found before the command is run.
func NoKey([][]byte) int { return 0 }

// StreamKeys returns the position of the first key of XREAD or XREADGROUP, 0 if there is none.
func StreamKeys(args [][]byte) int {
	first, _ := streamOptions(args)
	return first
}

// streamOptions reads the options of XREAD or XREADGROUP: the position behind STREAMS, 0 if there is none, and whether
// BLOCK comes before it. A group, a consumer or a value may be called STREAMS or BLOCK, too.
func streamOptions(args [][]byte) (first int, blocks bool) {
	for i := 1; i < len(args)-1; i++ {
		switch arg := args[i]; {
		case wire.EqualFold(arg, "streams"):
			return i + 1, blocks
		case wire.EqualFold(arg, "block"):
			blocks = true
			i++
		case wire.EqualFold(arg, "count"), wire.EqualFold(arg, "claim"):
			i++
		case wire.EqualFold(arg, "group"):
			i += 2
		}
	}
	return 0, blocks
}
