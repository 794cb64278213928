package resp

// The commands on ranges of sorted sets.
var zsetRangeCommands = []command{
	{
		name: "zcount", arity: 4, group: "sorted-set", run: cmdZcount,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "zlexcount", arity: 4, group: "sorted-set", run: cmdZlexcount,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "zrange", arity: -4, group: "sorted-set", run: cmdZrange,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "zrangebylex", arity: -4, group: "sorted-set", run: cmdZrangebylex,
		flags: flagReadonly,

		keys: oneKey("RO access"),
	},
	{
		name: "zrangebyscore", arity: -4, group: "sorted-set", run: cmdZrangebyscore,
		flags: flagReadonly,

		keys: oneKey("RO access"),
	},
	{
		name: "zrangestore", arity: -5, group: "sorted-set", run: cmdZrangestore,
		flags: flagWrite | flagDenyOOM,
		keys:  []keySpec{{flags: "OW update", index: 1, step: 1}, {flags: "RO access", index: 2, step: 1}},
	},
	{
		name: "zremrangebylex", arity: 4, group: "sorted-set", run: cmdZremrangebylex,
		flags: flagWrite,
		frees: true,
		keys:  oneKey("RW delete"),
	},
	{
		name: "zremrangebyrank", arity: 4, group: "sorted-set", run: cmdZremrangebyrank,
		flags: flagWrite,
		frees: true,
		keys:  oneKey("RW delete"),
	},
	{
		name: "zremrangebyscore", arity: 4, group: "sorted-set", run: cmdZremrangebyscore,
		flags: flagWrite,
		frees: true,
		keys:  oneKey("RW delete"),
	},
	{
		name: "zrevrange", arity: -4, group: "sorted-set", run: cmdZrevrange,
		flags: flagReadonly,

		keys: oneKey("RO access"),
	},
	{
		name: "zrevrangebylex", arity: -4, group: "sorted-set", run: cmdZrevrangebylex,
		flags: flagReadonly,

		keys: oneKey("RO access"),
	},
	{
		name: "zrevrangebyscore", arity: -4, group: "sorted-set", run: cmdZrevrangebyscore,
		flags: flagReadonly,

		keys: oneKey("RO access"),
	},
}
