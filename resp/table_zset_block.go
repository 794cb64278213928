package resp

// The commands on sorted sets that wait for a member.
var blockingSortedSetCommands = []command{
	{
		name: "bzmpop", arity: -5, group: "sorted-set", since: "7.0.0", run: cmdBzmpop,
		flags:      flagWrite | flagBlocking,
		frees:      true,
		summary:    "Removes members from an end of the first of some sorted sets that has any, or waits for some.",
		complexity: "O(K) + O(M*log(N)) with K the number of keys, M of members returned and N of members.",
		keys:       []keySpec{{flags: "RW access delete", index: 2, keynum: true, first: 1, step: 1}},
		args: []argument{
			{name: "timeout", kind: argDouble},
			{name: "numkeys", kind: argInteger},
			keysArg,
			{name: "where", kind: argOneOf, args: tokens("MIN", "MAX")},
			{name: "count", kind: argInteger, token: "COUNT", optional: true},
		},
	},
	{
		name: "bzpopmax", arity: -3, group: "sorted-set", since: "5.0.0", run: cmdBzpopmax,
		flags:      flagWrite | flagNoScript | flagBlocking | flagFast,
		frees:      true,
		summary:    "Removes the member with the highest score from the first of some sorted sets that has any, or waits for one.",
		complexity: "O(log(N)) with N the number of members.",
		history:    [][2]string{{"6.0.0", "Takes fractions of a second as `timeout`."}},
		keys:       []keySpec{{flags: "RW access delete", index: 1, last: -2, step: 1}},
		args:       []argument{keysArg, {name: "timeout", kind: argDouble}},
	},
	{
		name: "bzpopmin", arity: -3, group: "sorted-set", since: "5.0.0", run: cmdBzpopmin,
		flags:      flagWrite | flagNoScript | flagBlocking | flagFast,
		frees:      true,
		summary:    "Removes the member with the lowest score from the first of some sorted sets that has any, or waits for one.",
		complexity: "O(log(N)) with N the number of members.",
		history:    [][2]string{{"6.0.0", "Takes fractions of a second as `timeout`."}},
		keys:       []keySpec{{flags: "RW access delete", index: 1, last: -2, step: 1}},
		args:       []argument{keysArg, {name: "timeout", kind: argDouble}},
	},
}
