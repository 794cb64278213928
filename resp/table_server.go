package resp

// The commands about the server as a whole.
var serverCommands = []command{
	{
		name: "command", arity: -1, group: "server", run: byServer(cmdCommand),
		flags: flagLoading | flagStale | flagConnection,
		tips:  []string{"nondeterministic_output_order"},
		subs: []*command{
			{
				name: "count", arity: 2, group: "server", run: byServer(cmdCommandCount),
				flags: flagLoading | flagStale | flagConnection,
			},
			{
				name: "docs", arity: -2, group: "server", run: byServer(cmdCommandDocs),
				flags: flagLoading | flagStale | flagConnection,
				tips:  []string{"nondeterministic_output_order"},
			},
			{
				name: "info", arity: -2, group: "server", run: byServer(cmdCommandInfo),
				flags: flagLoading | flagStale | flagConnection,
				tips:  []string{"nondeterministic_output_order"},
			},
			{
				name: "list", arity: -2, group: "server", run: byServer(cmdCommandList),
				flags: flagLoading | flagStale | flagConnection,
				tips:  []string{"nondeterministic_output_order"},
			},
			{
				name: "getkeys", arity: -4, group: "server", run: byServer(cmdCommandGetkeys),
				flags: flagLoading | flagStale | flagConnection,
			},
			{
				name: "getkeysandflags", arity: -4, group: "server", run: byServer(cmdCommandGetkeysandflags),
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
				name: "get", arity: -3, group: "server", run: byServer(cmdConfigGet),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "set", arity: -4, group: "server", run: byServer(cmdConfigSet),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
				tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				name: "rewrite", arity: 2, group: "server", refusal: msgNoRewrite,
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "resetstat", arity: 2, group: "server", run: byServer(cmdConfigResetstat),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "help", arity: 2, group: "server", run: cmdConfigHelp,
				flags: flagLoading | flagStale,
			},
		},
	},
	{
		name: "dbsize", arity: 1, group: "server", run: byServer(cmdDbsize),
		spread: true,
		flags:  flagReadonly | flagFast | flagKeyspace,
		tips:   []string{"request_policy:all_shards", "response_policy:agg_sum"},
	},
	{
		name: "debug", arity: -2, group: "server", run: byServer(cmdDebug), protected: true,
		waits: true,
		flags: flagAdmin | flagNoScript | flagLoading | flagStale | flagSystem,
	},
	{
		name: "flushall", arity: -1, group: "server", run: byServer(cmdFlushall),
		spread: true,
		flags:  flagWrite | flagKeyspace | flagDangerous,
		frees:  true,
		tips:   []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		name: "flushdb", arity: -1, group: "server", run: byServer(cmdFlushdb),
		spread: true,
		flags:  flagWrite | flagKeyspace | flagDangerous,
		frees:  true,
		tips:   []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		name: "info", arity: -1, group: "server", run: byServer(cmdInfo),
		flags: flagLoading | flagStale | flagDangerous,
		tips:  []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
	},
	{
		name: "lastsave", arity: 1, group: "server", run: byServer(cmdLastsave),
		flags: flagLoading | flagStale | flagFast | flagAsAdmin,
		tips:  []string{"nondeterministic_output"},
	},
	{
		name: "monitor", arity: 1, group: "server", run: byServer(cmdMonitor),
		flags: flagAdmin | flagNoScript | flagLoading | flagStale,
	},
	{
		name: "shutdown", arity: -1, group: "server", run: byServer(cmdShutdown),
		flags: flagAdmin | flagNoScript | flagLoading | flagStale | flagNoMulti | flagAllowBusy,
	},
	{
		name: "slowlog", arity: -2, group: "server",
		flags: flagContainer,
		subs: []*command{
			{
				name: "get", arity: -2, group: "server", run: byServer(cmdSlowlogGet),
				flags: flagAdmin | flagLoading | flagStale,
				tips:  []string{"request_policy:all_nodes", "nondeterministic_output"},
			},
			{
				name: "len", arity: 2, group: "server", run: byServer(cmdSlowlogLen),
				flags: flagAdmin | flagLoading | flagStale,
				tips:  []string{"request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"},
			},
			{
				name: "reset", arity: 2, group: "server", run: byServer(cmdSlowlogReset),
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
		name: "time", arity: 1, group: "server", run: byServer(cmdTime),
		flags: flagLoading | flagStale | flagFast,
		tips:  []string{"nondeterministic_output"},
	},
}
