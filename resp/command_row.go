package resp

import "strings"

// What many rows of the table have in common.
var (
	keyArg  = argument{name: "key", kind: argKey, keySpec: 1}
	keysArg = argument{name: "key", kind: argKey, keySpec: 1, multiple: true}

	expireCondition = argument{
		name: "condition", kind: argOneOf, since: "7.0.0", optional: true,
		args: tokens("NX", "XX", "GT", "LT"),
	}

	flushMode = argument{name: "async", kind: argOneOf, optional: true, args: []argument{
		{name: "async", kind: argPureToken, token: "ASYNC", since: "4.0.0"},
		{name: "sync", kind: argPureToken, token: "SYNC", since: "6.2.0"},
	}}
)

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

// tokens are alternatives that each consist of one word.
func tokens(words ...string) []argument {
	args := make([]argument, len(words))
	for i, word := range words {
		args[i] = argument{name: strings.ToLower(word), kind: argPureToken, token: word}
	}
	return args
}
