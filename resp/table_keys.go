package resp

// keyCommands are the commands on keys with values of any type.
var keyCommands = []command{
	{
		name: "copy", arity: -3, group: "generic", run: cmdCopy,
		flags: flagWrite | flagDenyOOM,
		keys: []keySpec{
			{flags: "RO access", index: 1, step: 1},
			{flags: "OW update", index: 2, step: 1},
		},
	},
	{
		name: "del", arity: -2, quick: true, group: "generic", run: cmdDel,
		merge: mergeCounts,
		flags: flagWrite,
		frees: true,
		tips:  []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		keys:  allKeys("RM delete"),
	},
	{
		name: "dump", arity: 2, group: "generic", run: cmdDump,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RO access"),
	},
	{
		name: "exists", arity: -2, group: "generic", run: cmdExists,
		merge: mergeCounts,
		flags: flagReadonly | flagFast,
		tips:  []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		keys:  allKeys("RO"),
	},
	{
		name: "expire", arity: -3, group: "generic", run: cmdExpire,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW update"),
	},
	{
		name: "expireat", arity: -3, group: "generic", run: cmdExpireat,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW update"),
	},
	{
		name: "expiretime", arity: 2, group: "generic", run: cmdExpiretime,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "object", arity: -2, group: "generic",
		flags: flagContainer,
		subs: []*command{
			{
				name: "encoding", arity: 3, quick: true, group: "generic", run: cmdObjectEncoding,
				flags: flagReadonly,
				tips:  []string{"nondeterministic_output"},
				keys:  subKey("RO"),
			},
			{
				name: "freq", arity: 3, quick: true, group: "generic", run: cmdObjectFreq,
				flags: flagReadonly,
				tips:  []string{"nondeterministic_output"},
				keys:  subKey("RO"),
			},
			{
				name: "idletime", arity: 3, quick: true, group: "generic", run: cmdObjectIdletime,
				flags: flagReadonly,
				tips:  []string{"nondeterministic_output"},
				keys:  subKey("RO"),
			},
			{
				name: "refcount", arity: 3, quick: true, group: "generic", run: cmdObjectRefcount,
				flags: flagReadonly,
				tips:  []string{"nondeterministic_output"},
				keys:  subKey("RO"),
			},
			{
				name: "help", arity: 2, group: "generic", run: cmdObjectHelp,
				flags: flagLoading | flagStale,
			},
		},
	},
	{
		name: "persist", arity: 2, group: "generic", run: cmdPersist,
		flags: flagWrite | flagFast,
		keys:  oneKey("RW update"),
	},
	{
		name: "pexpire", arity: -3, group: "generic", run: cmdPexpire,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW update"),
	},
	{
		name: "pexpireat", arity: -3, group: "generic", run: cmdPexpireat,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW update"),
	},
	{
		name: "pexpiretime", arity: 2, group: "generic", run: cmdPexpiretime,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "pttl", arity: 2, group: "generic", run: cmdPttl,
		flags: flagReadonly | flagFast,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RO access"),
	},
	{
		name: "rename", arity: 3, quick: true, group: "generic", run: cmdRename,
		flags: flagWrite,
		keys: []keySpec{
			{flags: "RW access delete", index: 1, step: 1},
			{flags: "OW update", index: 2, step: 1},
		},
	},
	{
		name: "renamenx", arity: 3, group: "generic", run: cmdRenamenx,
		flags: flagWrite | flagFast,
		keys: []keySpec{
			{flags: "RW access delete", index: 1, step: 1},
			{flags: "OW insert", index: 2, step: 1},
		},
	},
	{
		name: "restore", arity: -4, group: "generic", run: cmdRestore,
		flags: flagWrite | flagDenyOOM | flagDangerous,
		keys:  oneKey("OW update"),
	},
	{
		name: "touch", arity: -2, group: "generic", run: cmdTouch,
		merge: mergeCounts,
		flags: flagReadonly | flagFast,
		tips:  []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		keys:  allKeys("RO"),
	},
	{
		name: "ttl", arity: 2, group: "generic", run: cmdTtl,
		flags: flagReadonly | flagFast,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RO access"),
	},
	{
		name: "type", arity: 2, group: "generic", run: cmdType,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO"),
	},
	{
		name: "unlink", arity: -2, group: "generic", run: cmdUnlink,
		merge: mergeCounts,
		flags: flagWrite | flagFast,
		frees: true,
		tips:  []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		keys:  allKeys("RM delete"),
	},
}
