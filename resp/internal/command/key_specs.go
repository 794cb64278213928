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

// MigrateKey returns the position of the one key of MIGRATE, 0 if the option KEYS names others.
func MigrateKey(args [][]byte) int {
	if migrateOption(args) > 0 {
		return 0
	}
	return 3
}

// MigrateKeys returns the position of the first key behind the option KEYS of MIGRATE, 0 if there is none. A key in front
// of the options as well is a syntax error.
func MigrateKeys(args [][]byte) int {
	if i := migrateOption(args); i > 0 && len(args[3]) == 0 {
		return i + 1
	}
	return 0
}

// migrateOption returns the position of the option KEYS of MIGRATE, 0 if there is none. A user or a password may be
// called KEYS, too. As to Redis, an option KEYS without keys is none.
func migrateOption(args [][]byte) int {
	for i := 6; i < len(args)-1; i++ {
		switch arg := args[i]; {
		case wire.EqualFold(arg, "keys"):
			return i
		case wire.EqualFold(arg, "auth"):
			i++
		case wire.EqualFold(arg, "auth2"):
			i += 2
		}
	}
	return 0
}
