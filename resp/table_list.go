package resp

// The commands on lists.
var listCommands = []command{
	{
		name: "lindex", arity: 3, quick: true, group: "list", run: cmdLindex,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "linsert", arity: 5, group: "list", run: cmdLinsert,
		flags: flagWrite | flagDenyOOM,
		keys:  oneKey("RW insert"),
	},
	{
		name: "llen", arity: 2, group: "list", run: cmdLlen,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO"),
	},
	{
		name: "lmove", arity: 5, quick: true, group: "list", run: cmdLmove,
		flags: flagWrite | flagDenyOOM,
		keys:  []keySpec{{flags: "RW access delete", index: 1, step: 1}, {flags: "RW insert", index: 2, step: 1}},
	},
	{
		name: "lmpop", arity: -4, group: "list", run: cmdLmpop,
		flags: flagWrite,
		frees: true,
		keys:  []keySpec{{flags: "RW access delete", index: 1, keynum: true, first: 1, step: 1}},
	},
	{
		name: "lpop", arity: -2, group: "list", run: cmdLpop,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW access delete"),
	},
	{
		name: "lpos", arity: -3, group: "list", run: cmdLpos,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "lpush", arity: -3, group: "list", run: cmdLpush,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW insert"),
	},
	{
		name: "lpushx", arity: -3, group: "list", run: cmdLpushx,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW insert"),
	},
	{
		name: "lrange", arity: 4, group: "list", run: cmdLrange,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "lrem", arity: 4, group: "list", run: cmdLrem,
		flags: flagWrite,
		frees: true,
		keys:  oneKey("RW delete"),
	},
	{
		name: "lset", arity: 4, quick: true, group: "list", run: cmdLset,
		flags: flagWrite | flagDenyOOM,
		keys:  oneKey("RW update"),
	},
	{
		name: "ltrim", arity: 4, group: "list", run: cmdLtrim,
		flags: flagWrite,
		frees: true,
		keys:  oneKey("RW delete"),
	},
	{
		name: "rpop", arity: -2, group: "list", run: cmdRpop,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW access delete"),
	},
	{
		name: "rpoplpush", arity: 3, quick: true, group: "list", run: cmdRpoplpush,
		flags: flagWrite | flagDenyOOM,

		keys: []keySpec{{flags: "RW access delete", index: 1, step: 1}, {flags: "RW insert", index: 2, step: 1}},
	},
	{
		name: "rpush", arity: -3, group: "list", run: cmdRpush,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW insert"),
	},
	{
		name: "rpushx", arity: -3, group: "list", run: cmdRpushx,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW insert"),
	},
}
