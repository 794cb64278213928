package resp

// oneKey is the key specification of a command whose first argument is its key.
func oneKey(flags string) []keySpec {
	return []keySpec{{flags: flags, index: 1, step: 1}}
}

// subKey is that of a subcommand with one key as its first argument.
func subKey(flags string) []keySpec {
	return []keySpec{{flags: flags, index: 2, step: 1}}
}

// allKeys is that of a command whose arguments are all keys.
func allKeys(flags string) []keySpec {
	return []keySpec{{flags: flags, index: 1, last: -1, step: 1}}
}

// noKey is for specifications of keys that cannot be found before the command is run.
func noKey([][]byte) int { return 0 }
