package resp

// The commands about the server as a whole.
var serverCommands = []command{
	{
		name: "command", arity: -1, group: "server", run: cmdCommand,
		flags: flagLoading | flagStale | flagConnection,
		tips:  []string{"nondeterministic_output_order"},
		subs: []*command{
			{
				name: "count", arity: 2, group: "server", run: cmdCommandCount,
				flags: flagLoading | flagStale | flagConnection,
			},
			{
				name: "docs", arity: -2, group: "server", run: cmdCommandDocs,
				flags: flagLoading | flagStale | flagConnection,
				tips:  []string{"nondeterministic_output_order"},
			},
			{
				name: "info", arity: -2, group: "server", run: cmdCommandInfo,
				flags: flagLoading | flagStale | flagConnection,
				tips:  []string{"nondeterministic_output_order"},
			},
			{
				name: "list", arity: -2, group: "server", run: cmdCommandList,
				flags: flagLoading | flagStale | flagConnection,
				tips:  []string{"nondeterministic_output_order"},
			},
			{
				name: "getkeys", arity: -4, group: "server", run: cmdCommandGetkeys,
				flags: flagLoading | flagStale | flagConnection,
			},
			{
				name: "getkeysandflags", arity: -4, group: "server", run: cmdCommandGetkeysandflags,
				flags: flagLoading | flagStale | flagConnection,
			},
			{
				name: "help", arity: 2, group: "server", run: cmdCommandHelp,
				flags: flagLoading | flagStale | flagConnection,
			},
		},
	},
	{
		name: "config", arity: -2, group: "server",
		flags: flagContainer,
		subs: []*command{
			{
				name: "get", arity: -3, group: "server", run: cmdConfigGet,
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "set", arity: -4, group: "server", run: cmdConfigSet,
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
				tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				name: "rewrite", arity: 2, group: "server", refusal: msgNoRewrite,
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "resetstat", arity: 2, group: "server", run: cmdConfigResetstat,
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "help", arity: 2, group: "server", run: cmdConfigHelp,
				flags: flagLoading | flagStale,
			},
		},
	},
	{
		name: "dbsize", arity: 1, group: "server", run: cmdDbsize,
		spread: true,
		flags:  flagReadonly | flagFast | flagKeyspace,
		tips:   []string{"request_policy:all_shards", "response_policy:agg_sum"},
	},
	{
		name: "debug", arity: -2, group: "server", run: cmdDebug, protected: true,
		waits: true,
		flags: flagAdmin | flagNoScript | flagLoading | flagStale | flagSystem,
	},
	{
		name: "flushall", arity: -1, group: "server", run: cmdFlushall,
		spread: true,
		flags:  flagWrite | flagKeyspace | flagDangerous,
		frees:  true,
		tips:   []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		name: "flushdb", arity: -1, group: "server", run: cmdFlushdb,
		spread: true,
		flags:  flagWrite | flagKeyspace | flagDangerous,
		frees:  true,
		tips:   []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		name: "info", arity: -1, group: "server", run: cmdInfo,
		flags: flagLoading | flagStale | flagDangerous,
		tips:  []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
	},
	{
		name: "lastsave", arity: 1, group: "server", run: cmdLastsave,
		flags: flagLoading | flagStale | flagFast | flagAsAdmin,
		tips:  []string{"nondeterministic_output"},
	},
	{
		name: "monitor", arity: 1, group: "server", run: cmdMonitor,
		flags: flagAdmin | flagNoScript | flagLoading | flagStale,
	},
	{
		name: "shutdown", arity: -1, group: "server", run: cmdShutdown,
		flags: flagAdmin | flagNoScript | flagLoading | flagStale | flagNoMulti | flagAllowBusy,
	},
	{
		name: "slowlog", arity: -2, group: "server",
		flags: flagContainer,
		subs: []*command{
			{
				name: "get", arity: -2, group: "server", run: cmdSlowlogGet,
				flags: flagAdmin | flagLoading | flagStale,
				tips:  []string{"request_policy:all_nodes", "nondeterministic_output"},
			},
			{
				name: "len", arity: 2, group: "server", run: cmdSlowlogLen,
				flags: flagAdmin | flagLoading | flagStale,
				tips:  []string{"request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"},
			},
			{
				name: "reset", arity: 2, group: "server", run: cmdSlowlogReset,
				flags: flagAdmin | flagLoading | flagStale,
				tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				name: "help", arity: 2, group: "server", run: cmdSlowlogHelp,
				flags: flagLoading | flagStale,
			},
		},
	},
	{
		name: "time", arity: 1, group: "server", run: cmdTime,
		flags: flagLoading | flagStale | flagFast,
		tips:  []string{"nondeterministic_output"},
	},
}
