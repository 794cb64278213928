package resp

// The commands that sort.
var sortCommands = []command{
	{
		name: "sort", arity: -2, group: "generic", since: "1.0.0", run: cmdSort,
		flags:      flagWrite | flagDenyOOM | flagSorts | flagDangerous,
		summary:    "Returns the elements of a list, a set or a sorted set in order, or stores them.",
		complexity: "O(N+M*log(M)) with N the number of elements and M the number of those returned.",
		keys:       []keySpec{{flags: "RO access", index: 1, step: 1}, {flags: "RO access", notes: "Of BY and GET: they follow from the elements", unknown: true, find: noKey}, {flags: "OW update", notes: "Of STORE, which may stand anywhere", unknown: true, find: sortDestination}},
		args: []argument{
			keyArg,
			{name: "pattern", kind: argPattern, token: "BY", keySpec: 2, optional: true},
			{name: "offset_count", kind: argBlock, token: "LIMIT", optional: true, args: []argument{
				{name: "offset", kind: argInteger},
				{name: "count", kind: argInteger},
			}},
			{name: "pattern", kind: argPattern, token: "GET", keySpec: 2, optional: true, multiple: true, multipleToken: true},
			{name: "order", kind: argOneOf, optional: true, args: tokens("ASC", "DESC")},
			{name: "sorting", kind: argPureToken, token: "ALPHA", optional: true},
			{name: "destination", kind: argKey, token: "STORE", keySpec: 3, optional: true},
		},
	},
	{
		name: "sort_ro", arity: -2, group: "generic", since: "7.0.0", run: cmdSortRo,
		flags:      flagReadonly | flagSorts | flagDangerous,
		summary:    "Returns the elements of a list, a set or a sorted set in order.",
		complexity: "O(N+M*log(M)) with N the number of elements and M the number of those returned.",
		keys:       []keySpec{{flags: "RO access", index: 1, step: 1}, {flags: "RO access", notes: "Of BY and GET: they follow from the elements", unknown: true, find: noKey}},
		args: []argument{
			keyArg,
			{name: "pattern", kind: argPattern, token: "BY", keySpec: 2, optional: true},
			{name: "offset_count", kind: argBlock, token: "LIMIT", optional: true, args: []argument{
				{name: "offset", kind: argInteger},
				{name: "count", kind: argInteger},
			}},
			{name: "pattern", kind: argPattern, token: "GET", keySpec: 2, optional: true, multiple: true, multipleToken: true},
			{name: "order", kind: argOneOf, optional: true, args: tokens("ASC", "DESC")},
			{name: "sorting", kind: argPureToken, token: "ALPHA", optional: true},
		},
	},
}

// noKey is for specifications of keys that cannot be found before the command is run.
func noKey([][]byte) int { return 0 }

// sortDestination is where SORT's destination is named: by the last STORE.
func sortDestination(args [][]byte) (at int) {
	for i := 2; i < len(args); i++ {
		switch {
		case equalFold(args[i], "limit"):
			i += 2
		case equalFold(args[i], "get"), equalFold(args[i], "by"):
			i++
		case equalFold(args[i], "store") && i+1 < len(args):
			at = i + 1
		}
	}
	return at
}
