package resp

import "github.com/ringside-kv/ringside/resp/internal/command"

// The commands about the server as a whole.
var serverCommands = []command.Row{
	{
		Name: "command", Arity: -1, Group: "server", Run: byServer(cmdCommand),
		Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
		Tips:  []string{"nondeterministic_output_order"},
		Subs: []*command.Row{
			{
				Name: "count", Arity: 2, Group: "server", Run: byServer(cmdCommandCount),
				Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
			},
			{
				Name: "docs", Arity: -2, Group: "server", Run: byServer(cmdCommandDocs),
				Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
				Tips:  []string{"nondeterministic_output_order"},
			},
			{
				Name: "info", Arity: -2, Group: "server", Run: byServer(cmdCommandInfo),
				Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
				Tips:  []string{"nondeterministic_output_order"},
			},
			{
				Name: "list", Arity: -2, Group: "server", Run: byServer(cmdCommandList),
				Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
				Tips:  []string{"nondeterministic_output_order"},
			},
			{
				Name: "getkeys", Arity: -4, Group: "server", Run: byServer(cmdCommandGetkeys),
				Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
			},
			{
				Name: "getkeysandflags", Arity: -4, Group: "server", Run: byServer(cmdCommandGetkeysandflags),
				Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
			},
			{
				Name: "help", Arity: 2, Group: "server", Run: cmdCommandHelp,
				Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
			},
		},
	},
	{
		Name: "config", Arity: -2, Group: "server",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "get", Arity: -3, Group: "server", Run: byServer(cmdConfigGet),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "set", Arity: -4, Group: "server", Run: byServer(cmdConfigSet),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "rewrite", Arity: 2, Group: "server", Refusal: msgNoRewrite,
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "resetstat", Arity: 2, Group: "server", Run: byServer(cmdConfigResetstat),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "help", Arity: 2, Group: "server", Run: cmdConfigHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
		},
	},
	{
		Name: "dbsize", Arity: 1, Group: "server", Run: byServer(cmdDbsize),
		Spread: true,
		Flags:  command.FlagReadonly | command.FlagFast | command.FlagKeyspace,
		Tips:   []string{"request_policy:all_shards", "response_policy:agg_sum"},
	},
	{
		Name: "debug", Arity: -2, Group: "server", Run: byServer(cmdDebug), Protected: true,
		Waits: true,
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagSystem,
	},
	{
		Name: "flushall", Arity: -1, Group: "server", Run: byServer(cmdFlushall),
		Spread: true,
		Flags:  command.FlagWrite | command.FlagKeyspace | command.FlagDangerous,
		Frees:  true,
		Tips:   []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "flushdb", Arity: -1, Group: "server", Run: byServer(cmdFlushdb),
		Spread: true,
		Flags:  command.FlagWrite | command.FlagKeyspace | command.FlagDangerous,
		Frees:  true,
		Tips:   []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "info", Arity: -1, Group: "server", Run: byServer(cmdInfo),
		Flags: command.FlagLoading | command.FlagStale | command.FlagDangerous,
		Tips:  []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
	},
	{
		Name: "lastsave", Arity: 1, Group: "server", Run: byServer(cmdLastsave),
		Flags: command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagAsAdmin,
		Tips:  []string{"nondeterministic_output"},
	},
	{
		Name: "monitor", Arity: 1, Group: "server", Run: byServer(cmdMonitor),
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
	},
	{
		Name: "shutdown", Arity: -1, Group: "server", Run: byServer(cmdShutdown),
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagNoMulti | command.FlagAllowBusy,
	},
	{
		Name: "slowlog", Arity: -2, Group: "server",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "get", Arity: -2, Group: "server", Run: byServer(cmdSlowlogGet),
				Flags: command.FlagAdmin | command.FlagLoading | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "nondeterministic_output"},
			},
			{
				Name: "len", Arity: 2, Group: "server", Run: byServer(cmdSlowlogLen),
				Flags: command.FlagAdmin | command.FlagLoading | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"},
			},
			{
				Name: "reset", Arity: 2, Group: "server", Run: byServer(cmdSlowlogReset),
				Flags: command.FlagAdmin | command.FlagLoading | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "help", Arity: 2, Group: "server", Run: cmdSlowlogHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
		},
	},
	{
		Name: "time", Arity: 1, Group: "server", Run: byServer(cmdTime),
		Flags: command.FlagLoading | command.FlagStale | command.FlagFast,
		Tips:  []string{"nondeterministic_output"},
	},
}
