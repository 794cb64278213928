package admin

import "github.com/ringside-kv/ringside/resp/internal/command"

// ServerCommands are about the server as a whole.
var ServerCommands = []command.Row{
	{
		Name: "command", Arity: -1, Group: "server", Run: on(cmdCommand),
		Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
		Tips:  []string{"nondeterministic_output_order"},
		Subs: []*command.Row{
			{
				Name: "count", Arity: 2, Group: "server", Run: on(cmdCommandCount),
				Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
			},
			{
				Name: "docs", Arity: -2, Group: "server", Run: on(cmdCommandDocs),
				Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
				Tips:  []string{"nondeterministic_output_order"},
			},
			{
				Name: "info", Arity: -2, Group: "server", Run: on(cmdCommandInfo),
				Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
				Tips:  []string{"nondeterministic_output_order"},
			},
			{
				Name: "list", Arity: -2, Group: "server", Run: on(cmdCommandList),
				Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
				Tips:  []string{"nondeterministic_output_order"},
			},
			{
				Name: "getkeys", Arity: -3, Group: "server", Run: on(cmdCommandGetkeys),
				Flags: command.FlagLoading | command.FlagStale | command.FlagConnection,
			},
			{
				Name: "getkeysandflags", Arity: -3, Group: "server", Run: on(cmdCommandGetkeysandflags),
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
				Name: "get", Arity: -3, Group: "server", Run: on(cmdConfigGet),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "set", Arity: -4, Group: "server", Run: on(cmdConfigSet), Hide: hideConfig, AsksNodes: true, ForNodes: true,
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "rewrite", Arity: 2, Group: "server", Run: on(cmdConfigRewrite),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "resetstat", Arity: 2, Group: "server", Run: on(cmdConfigResetstat),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "help", Arity: 2, Group: "server", Run: cmdConfigHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
		},
	},
	{
		Name: "debug", Arity: -2, Group: "server", Run: on(cmdDebug), Protected: true, IsOnKey: isDebugOnKey,
		Waits: true,
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagSystem,
	},
	{
		Name: "info", Arity: -1, Group: "server", Run: on(cmdInfo), AsksNodes: true,
		Flags: command.FlagLoading | command.FlagStale | command.FlagDangerous,
		Tips:  []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
	},
	{
		Name: "lastsave", Arity: 1, Group: "server", Run: on(cmdLastsave),
		Flags: command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagAsAdmin,
		Tips:  []string{"nondeterministic_output"},
	},
	{
		Name: "shutdown", Arity: -1, Group: "server", Run: on(cmdShutdown),
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagNoMulti | command.FlagAllowBusy,
	},
	{
		Name: "slowlog", Arity: -2, Group: "server",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "get", Arity: -2, Group: "server", Run: on(cmdSlowlogGet),
				Flags: command.FlagAdmin | command.FlagLoading | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "nondeterministic_output"},
			},
			{
				Name: "len", Arity: 2, Group: "server", Run: on(cmdSlowlogLen),
				Flags: command.FlagAdmin | command.FlagLoading | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"},
			},
			{
				Name: "reset", Arity: 2, Group: "server", Run: on(cmdSlowlogReset),
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
		Name: "time", Arity: 1, Group: "server", Run: on(cmdTime),
		Flags: command.FlagLoading | command.FlagStale | command.FlagFast,
		Tips:  []string{"nondeterministic_output"},
	},
}
