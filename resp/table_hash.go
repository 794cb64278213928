package resp

// The commands on hashes.
var hashCommands = []command{
	{
		name: "hdel", arity: -3, group: "hash", run: cmdHdel,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW delete"),
	},
	{
		name: "hexists", arity: 3, group: "hash", run: cmdHexists,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO"),
	},
	{
		name: "hget", arity: 3, group: "hash", run: cmdHget,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "hgetall", arity: 2, group: "hash", run: cmdHgetall,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output_order"},
		keys:  oneKey("RO access"),
	},
	{
		name: "hincrby", arity: 4, group: "hash", run: cmdHincrby,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW access update"),
	},
	{
		name: "hincrbyfloat", arity: 4, group: "hash", run: cmdHincrbyfloat,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW access update"),
	},
	{
		name: "hkeys", arity: 2, group: "hash", run: cmdHkeys,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output_order"},
		keys:  oneKey("RO access"),
	},
	{
		name: "hlen", arity: 2, group: "hash", run: cmdHlen,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO"),
	},
	{
		name: "hmget", arity: -3, group: "hash", run: cmdHmget,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "hmset", arity: -4, group: "hash", run: cmdHmset,
		flags: flagWrite | flagDenyOOM | flagFast,

		keys: oneKey("RW update"),
	},
	{
		name: "hrandfield", arity: -2, group: "hash", run: cmdHrandfield,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RO access"),
	},
	{
		name: "hscan", arity: -3, group: "hash", run: cmdHscan,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RO access"),
	},
	{
		name: "hset", arity: -4, group: "hash", run: cmdHset,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW update"),
	},
	{
		name: "hsetnx", arity: 4, group: "hash", run: cmdHsetnx,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW insert"),
	},
	{
		name: "hstrlen", arity: 3, group: "hash", run: cmdHstrlen,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO"),
	},
	{
		name: "hvals", arity: 2, group: "hash", run: cmdHvals,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output_order"},
		keys:  oneKey("RO access"),
	},
}
