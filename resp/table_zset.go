package resp

// The commands on members of sorted sets.
var zsetCommands = []command{
	{
		name: "zadd", arity: -4, group: "sorted-set", run: cmdZadd,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW update"),
	},
	{
		name: "zcard", arity: 2, group: "sorted-set", run: cmdZcard,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO"),
	},
	{
		name: "zdiff", arity: -3, group: "sorted-set", run: cmdZdiff,
		flags: flagReadonly,
		keys:  []keySpec{{flags: "RO access", index: 1, keynum: true, first: 1, step: 1}},
	},
	{
		name: "zdiffstore", arity: -4, group: "sorted-set", run: cmdZdiffstore,
		flags: flagWrite | flagDenyOOM,
		keys:  []keySpec{{flags: "OW update", index: 1, step: 1}, {flags: "RO access", index: 2, keynum: true, first: 1, step: 1}},
	},
	{
		name: "zincrby", arity: 4, group: "sorted-set", run: cmdZincrby,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW access update"),
	},
	{
		name: "zinter", arity: -3, group: "sorted-set", run: cmdZinter,
		flags: flagReadonly,
		keys:  []keySpec{{flags: "RO access", index: 1, keynum: true, first: 1, step: 1}},
	},
	{
		name: "zintercard", arity: -3, group: "sorted-set", run: cmdZintercard,
		flags: flagReadonly,
		keys:  []keySpec{{flags: "RO access", index: 1, keynum: true, first: 1, step: 1}},
	},
	{
		name: "zinterstore", arity: -4, group: "sorted-set", run: cmdZinterstore,
		flags: flagWrite | flagDenyOOM,
		keys:  []keySpec{{flags: "OW update", index: 1, step: 1}, {flags: "RO access", index: 2, keynum: true, first: 1, step: 1}},
	},
	{
		name: "zmpop", arity: -4, group: "sorted-set", run: cmdZmpop,
		flags: flagWrite,
		frees: true,
		keys:  []keySpec{{flags: "RW access delete", index: 1, keynum: true, first: 1, step: 1}},
	},
	{
		name: "zmscore", arity: -3, group: "sorted-set", run: cmdZmscore,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "zpopmax", arity: -2, group: "sorted-set", run: cmdZpopmax,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW access delete"),
	},
	{
		name: "zpopmin", arity: -2, group: "sorted-set", run: cmdZpopmin,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW access delete"),
	},
	{
		name: "zrandmember", arity: -2, group: "sorted-set", run: cmdZrandmember,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RO access"),
	},
	{
		name: "zrank", arity: 3, group: "sorted-set", run: cmdZrank,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "zrem", arity: -3, group: "sorted-set", run: cmdZrem,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW delete"),
	},
	{
		name: "zrevrank", arity: 3, group: "sorted-set", run: cmdZrevrank,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "zscan", arity: -3, group: "sorted-set", run: cmdZscan,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RO access"),
	},
	{
		name: "zscore", arity: 3, group: "sorted-set", run: cmdZscore,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "zunion", arity: -3, group: "sorted-set", run: cmdZunion,
		flags: flagReadonly,
		keys:  []keySpec{{flags: "RO access", index: 1, keynum: true, first: 1, step: 1}},
	},
	{
		name: "zunionstore", arity: -4, group: "sorted-set", run: cmdZunionstore,
		flags: flagWrite | flagDenyOOM,
		keys:  []keySpec{{flags: "OW update", index: 1, step: 1}, {flags: "RO access", index: 2, keynum: true, first: 1, step: 1}},
	},
}
