package resp

// The commands about latency.
var latencyCommands = []command{
	{
		name: "latency", arity: -2, group: "server",
		flags: flagContainer,
		subs: []*command{
			{
				name: "doctor", arity: 2, group: "server", run: byServer(cmdLatencyDoctor),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
				tips:  []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			},
			{
				name: "graph", arity: 3, group: "server", run: byServer(cmdLatencyGraph),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
				tips:  []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			},
			{
				name: "help", arity: 2, group: "server", run: cmdLatencyHelp,
				flags: flagLoading | flagStale,
			},
			{
				name: "histogram", arity: -2, group: "server", run: byServer(cmdLatencyHistogram),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
				tips:  []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			},
			{
				name: "history", arity: 3, group: "server", run: byServer(cmdLatencyHistory),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
				tips:  []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			},
			{
				name: "latest", arity: 2, group: "server", run: byServer(cmdLatencyLatest),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
				tips:  []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			},
			{
				name: "reset", arity: -2, group: "server", run: byServer(cmdLatencyReset),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
				tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
		},
	},
}
