package resp

// The commands on lists that wait for an element.
var blockingListCommands = []command{
	{
		name: "blmove", arity: 6, group: "list", since: "6.2.0", run: cmdBlmove,
		flags:      flagWrite | flagDenyOOM | flagNoScript | flagBlocking,
		summary:    "Moves an element from one end of a list to an end of another and returns it, or waits for one.",
		complexity: "O(1)",
		keys:       []keySpec{{flags: "RW access delete", index: 1, step: 1}, {flags: "RW insert", index: 2, step: 1}},
		args: []argument{
			{name: "source", kind: argKey, keySpec: 1},
			{name: "destination", kind: argKey, keySpec: 2},
			{name: "wherefrom", kind: argOneOf, args: tokens("LEFT", "RIGHT")},
			{name: "whereto", kind: argOneOf, args: tokens("LEFT", "RIGHT")},
			{name: "timeout", kind: argDouble},
		},
	},
	{
		name: "blmpop", arity: -5, group: "list", since: "7.0.0", run: cmdBlmpop,
		flags:      flagWrite | flagBlocking,
		frees:      true,
		summary:    "Removes elements from an end of the first of some lists that has any, or waits for some.",
		complexity: "O(N+M) with N the number of lists and M of elements returned.",
		keys:       []keySpec{{flags: "RW access delete", index: 2, keynum: true, first: 1, step: 1}},
		args: []argument{
			{name: "timeout", kind: argDouble},
			{name: "numkeys", kind: argInteger},
			keysArg,
			{name: "where", kind: argOneOf, args: tokens("LEFT", "RIGHT")},
			{name: "count", kind: argInteger, token: "COUNT", optional: true},
		},
	},
	{
		name: "blpop", arity: -3, group: "list", since: "2.0.0", run: cmdBlpop,
		flags:      flagWrite | flagNoScript | flagBlocking,
		frees:      true,
		summary:    "Removes the first element of the first of some lists that has any, or waits for one.",
		complexity: "O(N) with N the number of lists.",
		history:    [][2]string{{"6.0.0", "Takes fractions of a second as `timeout`."}},
		keys:       []keySpec{{flags: "RW access delete", index: 1, last: -2, step: 1}},
		args:       []argument{keysArg, {name: "timeout", kind: argDouble}},
	},
	{
		name: "brpop", arity: -3, group: "list", since: "2.0.0", run: cmdBrpop,
		flags:      flagWrite | flagNoScript | flagBlocking,
		frees:      true,
		summary:    "Removes the last element of the first of some lists that has any, or waits for one.",
		complexity: "O(N) with N the number of lists.",
		history:    [][2]string{{"6.0.0", "Takes fractions of a second as `timeout`."}},
		keys:       []keySpec{{flags: "RW access delete", index: 1, last: -2, step: 1}},
		args:       []argument{keysArg, {name: "timeout", kind: argDouble}},
	},
	{
		name: "brpoplpush", arity: 4, group: "list", since: "2.2.0", run: cmdBrpoplpush,
		flags:           flagWrite | flagDenyOOM | flagNoScript | flagBlocking,
		summary:         "Moves the last element of a list to the front of another and returns it, or waits for one.",
		complexity:      "O(1)",
		deprecatedSince: "6.2.0",
		replacedBy:      "`BLMOVE` with the `RIGHT` and `LEFT` arguments",
		history:         [][2]string{{"6.0.0", "Takes fractions of a second as `timeout`."}},
		keys:            []keySpec{{flags: "RW access delete", index: 1, step: 1}, {flags: "RW insert", index: 2, step: 1}},
		args: []argument{
			{name: "source", kind: argKey, keySpec: 1},
			{name: "destination", kind: argKey, keySpec: 2},
			{name: "timeout", kind: argDouble},
		},
	},
}
