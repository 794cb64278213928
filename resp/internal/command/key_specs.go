package command

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
