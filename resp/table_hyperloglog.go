package resp

// The commands on sketches of sets.
var hyperloglogCommands = []command{
	{
		name: "pfadd", arity: -2, group: "hyperloglog", run: cmdPfadd,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW insert"),
	},
	{
		name: "pfcount", arity: -2, group: "hyperloglog", run: cmdPfcount,
		flags: flagReadonly | flagMayReplicate,
		keys:  []keySpec{{flags: "RW access", notes: "RW since Redis notes the estimate in the key", index: 1, last: -1, step: 1}},
	},
	{
		name: "pfdebug", arity: 3, group: "hyperloglog", run: cmdPfdebug,
		flags: flagWrite | flagDenyOOM | flagAdmin | flagSystem,
		keys:  subKey("RW access"),
	},
	{
		name: "pfmerge", arity: -2, group: "hyperloglog", run: cmdPfmerge,
		flags: flagWrite | flagDenyOOM,
		keys:  []keySpec{{flags: "RW access insert", index: 1, step: 1}, {flags: "RO access", index: 2, last: -1, step: 1, optional: true}},
	},
	{
		name: "pfselftest", arity: 1, group: "hyperloglog", run: cmdPfselftest,
		flags: flagAdmin | flagSystem,
	},
}
