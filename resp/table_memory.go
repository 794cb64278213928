package resp

// The commands about memory.
var memoryCommands = []command{
	{
		name: "memory", arity: -2, group: "server", since: "4.0.0",
		flags:      flagContainer,
		summary:    "Groups the commands about memory.",
		complexity: "Depends on the subcommand.",
		subs: []*command{
			{
				name: "doctor", arity: 2, group: "server", since: "4.0.0", run: cmdMemoryDoctor,
				summary:    "Says what is remarkable about the memory in use.",
				complexity: "O(1)",
				tips:       []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
			{
				name: "help", arity: 2, group: "server", since: "4.0.0", run: cmdMemoryHelp,
				flags:      flagLoading | flagStale,
				summary:    "Lists the subcommands, with one line for each.",
				complexity: "O(1)",
			},
			{
				name: "malloc-stats", arity: 2, group: "server", since: "4.0.0", run: cmdMemoryMallocStats,
				summary:    "Shows what the allocator says of itself.",
				complexity: "O(1)",
				tips:       []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
			{
				name: "purge", arity: 2, group: "server", since: "4.0.0", run: cmdMemoryPurge,
				summary:    "Gives memory that is not in use back to the system.",
				complexity: "O(1)",
				tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				name: "stats", arity: 2, group: "server", since: "4.0.0", run: cmdMemoryStats,
				summary:    "Tells what memory is used for.",
				complexity: "O(1)",
				tips:       []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
			{
				name: "usage", arity: -3, group: "server", since: "4.0.0", run: cmdMemoryUsage,
				flags:      flagReadonly,
				summary:    "Estimates how many bytes a key and its value take.",
				complexity: "O(N) with N the number of elements sampled.",
				keys:       []keySpec{{flags: "RO", index: 2, step: 1}},
				args: []argument{
					keyArg,
					{name: "count", kind: argInteger, token: "SAMPLES", optional: true},
				},
			},
		},
	},
}
