package admin

import "github.com/ringside-kv/ringside/resp/internal/command"

// LatencyCommands are about latency.
var LatencyCommands = []command.Row{
	{
		Name: "latency", Arity: -2, Group: "server",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "doctor", Arity: 2, Group: "server", Run: on(cmdLatencyDoctor),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			},
			{
				Name: "graph", Arity: 3, Group: "server", Run: on(cmdLatencyGraph),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			},
			{
				Name: "help", Arity: 2, Group: "server", Run: cmdLatencyHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
			{
				Name: "histogram", Arity: -2, Group: "server", Run: on(cmdLatencyHistogram),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			},
			{
				Name: "history", Arity: 3, Group: "server", Run: on(cmdLatencyHistory),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			},
			{
				Name: "latest", Arity: 2, Group: "server", Run: on(cmdLatencyLatest),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			},
			{
				Name: "reset", Arity: -2, Group: "server", Run: on(cmdLatencyReset),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "response_policy:agg_sum"},
			},
		},
	},
}
