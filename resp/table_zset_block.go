package resp

// The commands on sorted sets that wait for a member.
var blockingSortedSetCommands = []command{
	{
		name: "bzmpop", arity: -5, group: "sorted-set", run: cmdBzmpop,
		flags: flagWrite | flagBlocking,
		frees: true,
		keys:  []keySpec{{flags: "RW access delete", index: 2, keynum: true, first: 1, step: 1}},
	},
	{
		name: "bzpopmax", arity: -3, group: "sorted-set", run: cmdBzpopmax,
		flags: flagWrite | flagNoScript | flagBlocking | flagFast,
		frees: true,
		keys:  []keySpec{{flags: "RW access delete", index: 1, last: -2, step: 1}},
	},
	{
		name: "bzpopmin", arity: -3, group: "sorted-set", run: cmdBzpopmin,
		flags: flagWrite | flagNoScript | flagBlocking | flagFast,
		frees: true,
		keys:  []keySpec{{flags: "RW access delete", index: 1, last: -2, step: 1}},
	},
}
