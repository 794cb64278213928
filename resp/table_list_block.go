package resp

// The commands on lists that wait for an element.
var blockingListCommands = []command{
	{
		name: "blmove", arity: 6, group: "list", run: cmdBlmove,
		flags: flagWrite | flagDenyOOM | flagNoScript | flagBlocking,
		keys:  []keySpec{{flags: "RW access delete", index: 1, step: 1}, {flags: "RW insert", index: 2, step: 1}},
	},
	{
		name: "blmpop", arity: -5, group: "list", run: cmdBlmpop,
		flags: flagWrite | flagBlocking,
		frees: true,
		keys:  []keySpec{{flags: "RW access delete", index: 2, keynum: true, first: 1, step: 1}},
	},
	{
		name: "blpop", arity: -3, group: "list", run: cmdBlpop,
		flags: flagWrite | flagNoScript | flagBlocking,
		frees: true,
		keys:  []keySpec{{flags: "RW access delete", index: 1, last: -2, step: 1}},
	},
	{
		name: "brpop", arity: -3, group: "list", run: cmdBrpop,
		flags: flagWrite | flagNoScript | flagBlocking,
		frees: true,
		keys:  []keySpec{{flags: "RW access delete", index: 1, last: -2, step: 1}},
	},
	{
		name: "brpoplpush", arity: 4, group: "list", run: cmdBrpoplpush,
		flags: flagWrite | flagDenyOOM | flagNoScript | flagBlocking,

		keys: []keySpec{{flags: "RW access delete", index: 1, step: 1}, {flags: "RW insert", index: 2, step: 1}},
	},
}
