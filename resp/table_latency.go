package resp

// The commands about latency.
var latencyCommands = []command{
	{
		name: "latency", arity: -2, group: "server", since: "2.8.13",
		flags:      flagContainer,
		summary:    "Groups the commands about latency.",
		complexity: "Depends on the subcommand.",
		subs: []*command{
			{
				name: "doctor", arity: 2, group: "server", since: "2.8.13", run: cmdLatencyDoctor,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Says what the events of the monitor mean.",
				complexity: "O(1)",
				tips:       []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			},
			{
				name: "graph", arity: 3, group: "server", since: "2.8.13", run: cmdLatencyGraph,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Draws the latency of an event.",
				complexity: "O(1)",
				tips:       []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
				args: []argument{
					{name: "event", kind: argString},
				},
			},
			{
				name: "help", arity: 2, group: "server", since: "2.8.13", run: cmdLatencyHelp,
				flags:      flagLoading | flagStale,
				summary:    "Lists the subcommands, with one line for each.",
				complexity: "O(1)",
			},
			{
				name: "histogram", arity: -2, group: "server", since: "7.0.0", run: cmdLatencyHistogram,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Tells how long commands took, by powers of two of microseconds.",
				complexity: "O(N) with N the number of commands.",
				tips:       []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
				args: []argument{
					{name: "command", kind: argString, optional: true, multiple: true},
				},
			},
			{
				name: "history", arity: 3, group: "server", since: "2.8.13", run: cmdLatencyHistory,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Lists when an event took how long.",
				complexity: "O(1)",
				tips:       []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
				args: []argument{
					{name: "event", kind: argString},
				},
			},
			{
				name: "latest", arity: 2, group: "server", since: "2.8.13", run: cmdLatencyLatest,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Lists the events of the monitor, with the latest of each.",
				complexity: "O(1)",
				tips:       []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			},
			{
				name: "reset", arity: -2, group: "server", since: "2.8.13", run: cmdLatencyReset,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Forgets events.",
				complexity: "O(1)",
				tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				args: []argument{
					{name: "event", kind: argString, optional: true, multiple: true},
				},
			},
		},
	},
}
