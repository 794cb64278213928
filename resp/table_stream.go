package resp

// The commands on streams.
var streamCommands = []command{
	{
		name: "xack", arity: -4, group: "stream", run: cmdXack,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW update"),
	},
	{
		name: "xadd", arity: -5, group: "stream", run: cmdXadd,
		flags: flagWrite | flagDenyOOM | flagFast,
		tips:  []string{"nondeterministic_output"},
		keys:  []keySpec{{flags: "RW update", notes: "UPDATE rather than INSERT, since it may trim", index: 1, step: 1}},
	},
	{
		name: "xautoclaim", arity: -6, group: "stream", run: cmdXautoclaim,
		flags: flagWrite | flagFast,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RW delete"),
	},
	{
		name: "xclaim", arity: -6, group: "stream", run: cmdXclaim,
		flags: flagWrite | flagFast,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RW update"),
	},
	{
		name: "xdel", arity: -3, group: "stream", run: cmdXdel,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW delete"),
	},
	{
		name: "xgroup", arity: -2, group: "stream",
		flags: flagContainer,
		subs: []*command{
			{
				name: "create", arity: -5, quick: true, group: "stream", run: cmdXgroupCreate,
				flags: flagWrite | flagDenyOOM,
				keys:  subKey("RW insert"),
			},
			{
				name: "createconsumer", arity: 5, quick: true, group: "stream", run: cmdXgroupCreateconsumer,
				flags: flagWrite | flagDenyOOM,
				keys:  subKey("RW insert"),
			},
			{
				name: "delconsumer", arity: 5, group: "stream", run: cmdXgroupDelconsumer,
				frees: true,
				flags: flagWrite,
				keys:  subKey("RW delete"),
			},
			{
				name: "destroy", arity: 4, quick: true, group: "stream", run: cmdXgroupDestroy,
				frees: true,
				flags: flagWrite,
				keys:  subKey("RW delete"),
			},
			{
				name: "help", arity: 2, group: "stream", run: cmdXgroupHelp,
				flags: flagLoading | flagStale,
			},
			{
				name: "setid", arity: -5, quick: true, group: "stream", run: cmdXgroupSetid,
				flags: flagWrite,
				keys:  subKey("RW update"),
			},
		},
	},
	{
		name: "xinfo", arity: -2, group: "stream",
		flags: flagContainer,
		subs: []*command{
			{
				name: "consumers", arity: 4, group: "stream", run: cmdXinfoConsumers,
				flags: flagReadonly,
				tips:  []string{"nondeterministic_output"},
				keys:  subKey("RO access"),
			},
			{
				name: "groups", arity: 3, group: "stream", run: cmdXinfoGroups,
				flags: flagReadonly,
				keys:  subKey("RO access"),
			},
			{
				name: "help", arity: 2, group: "stream", run: cmdXinfoHelp,
				flags: flagLoading | flagStale,
			},
			{
				name: "stream", arity: -3, group: "stream", run: cmdXinfoStream,
				flags: flagReadonly,
				keys:  subKey("RO access"),
			},
		},
	},
	{
		name: "xlen", arity: 2, group: "stream", run: cmdXlen,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO"),
	},
	{
		name: "xpending", arity: -3, group: "stream", run: cmdXpending,
		flags: flagReadonly,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RO access"),
	},
	{
		name: "xrange", arity: -4, group: "stream", run: cmdXrange,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "xread", arity: -4, group: "stream", run: cmdXread,
		flags: flagReadonly | flagBlocking,
		keys:  []keySpec{{flags: "RO access", keyword: "STREAMS", from: 1, last: -1, step: 1, limit: 2}},
	},
	{
		name: "xreadgroup", arity: -7, group: "stream", run: cmdXreadgroup,
		flags: flagWrite | flagBlocking,
		keys:  []keySpec{{flags: "RO access", keyword: "STREAMS", from: 4, last: -1, step: 1, limit: 2}},
	},
	{
		name: "xrevrange", arity: -4, group: "stream", run: cmdXrevrange,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "xsetid", arity: -3, group: "stream", run: cmdXsetid,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW update"),
	},
	{
		name: "xtrim", arity: -4, group: "stream", run: cmdXtrim,
		flags: flagWrite,
		frees: true,
		tips:  []string{"nondeterministic_output"},
		keys:  oneKey("RW delete"),
	},
}
