package resp

// The commands on sketches of sets.
var hyperloglogCommands = []command{
	{
		name: "pfadd", arity: -2, group: "hyperloglog", since: "2.8.9", run: cmdPfadd,
		flags:      flagWrite | flagDenyOOM | flagFast,
		summary:    "Adds elements to the sketch of a set, which is created if it is missing.",
		complexity: "O(1) for each element.",
		keys:       oneKey("RW insert"),
		args:       []argument{keyArg, {name: "element", kind: argString, optional: true, multiple: true}},
	},
	{
		name: "pfcount", arity: -2, group: "hyperloglog", since: "2.8.9", run: cmdPfcount,
		flags:      flagReadonly | flagMayReplicate,
		summary:    "Returns about how many distinct elements one or more sets have, by their sketches.",
		complexity: "O(1) for one key, O(N) with N the number of keys for several.",
		keys:       []keySpec{{flags: "RW access", notes: "RW since Redis notes the estimate in the key", index: 1, last: -1, step: 1}},
		args:       []argument{keysArg},
	},
	{
		name: "pfdebug", arity: 3, group: "hyperloglog", since: "2.8.9", run: cmdPfdebug,
		flags:      flagWrite | flagDenyOOM | flagAdmin | flagSystem,
		summary:    "Shows what a sketch holds, for those who look into it.",
		complexity: "O(1)",
		keys:       subKey("RW access"),
		args:       []argument{{name: "subcommand", kind: argString}, keyArg},
	},
	{
		name: "pfmerge", arity: -2, group: "hyperloglog", since: "2.8.9", run: cmdPfmerge,
		flags:      flagWrite | flagDenyOOM,
		summary:    "Makes a sketch one of the union of sets.",
		complexity: "O(N) with N the number of sketches.",
		keys:       []keySpec{{flags: "RW access insert", index: 1, step: 1}, {flags: "RO access", index: 2, last: -1, step: 1, optional: true}},
		args: []argument{
			{name: "destkey", kind: argKey, keySpec: 1},
			{name: "sourcekey", kind: argKey, keySpec: 2, multiple: true},
		},
	},
	{
		name: "pfselftest", arity: 1, group: "hyperloglog", since: "2.8.9", run: cmdPfselftest,
		flags:      flagAdmin | flagSystem,
		summary:    "Tests that sketches estimate what they should.",
		complexity: "O(1)",
	},
}
