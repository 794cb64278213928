package resp

// The commands on sets.
var setCommands = []command{
	{
		name: "sadd", arity: -3, group: "set", run: cmdSadd,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW insert"),
	},
	{
		name: "scard", arity: 2, group: "set", run: cmdScard,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO"),
	},
	{
		name: "sdiff", arity: -2, group: "set", run: cmdSdiff,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output_order"},
		keys:  allKeys("RO access"),
	},
	{
		name: "sdiffstore", arity: -3, group: "set", run: cmdSdiffstore,
		flags: flagWrite | flagDenyOOM,
		keys:  []keySpec{{flags: "OW update", index: 1, step: 1}, {flags: "RO access", index: 2, last: -1, step: 1}},
	},
	{
		name: "sinter", arity: -2, group: "set", run: cmdSinter,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output_order"},
		keys:  allKeys("RO access"),
	},
	{
		name: "sintercard", arity: -3, group: "set", run: cmdSintercard,
		flags: flagReadonly,
		keys:  []keySpec{{flags: "RO access", index: 1, keynum: true, first: 1, step: 1}},
	},
	{
		name: "sinterstore", arity: -3, group: "set", run: cmdSinterstore,
		flags: flagWrite | flagDenyOOM,
		keys:  []keySpec{{flags: "RW update", index: 1, step: 1}, {flags: "RO access", index: 2, last: -1, step: 1}},
	},
	{
		name: "sismember", arity: 3, group: "set", run: cmdSismember,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO"),
	},
	{
		name: "smembers", arity: 2, group: "set", run: cmdSmembers,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output_order"},
		keys:  oneKey("RO access"),
	},
	{
		name: "smismember", arity: -3, group: "set", run: cmdSmismember,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "smove", arity: 4, group: "set", run: cmdSmove,
		flags: flagWrite | flagFast,
		keys:  []keySpec{{flags: "RW access delete", index: 1, step: 1}, {flags: "RW insert", index: 2, step: 1}},
	},
	{
		name: "spop", arity: -2, group: "set", run: cmdSpop,
		flags: flagWrite | flagFast,
		frees: true,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RW access delete"),
	},
	{
		name: "srandmember", arity: -2, group: "set", run: cmdSrandmember,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RO access"),
	},
	{
		name: "srem", arity: -3, group: "set", run: cmdSrem,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW delete"),
	},
	{
		name: "sscan", arity: -3, group: "set", run: cmdSscan,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RO access"),
	},
	{
		name: "sunion", arity: -2, group: "set", run: cmdSunion,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output_order"},
		keys:  allKeys("RO access"),
	},
	{
		name: "sunionstore", arity: -3, group: "set", run: cmdSunionstore,
		flags: flagWrite | flagDenyOOM,
		keys:  []keySpec{{flags: "OW update", index: 1, step: 1}, {flags: "RO access", index: 2, last: -1, step: 1}},
	},
}
