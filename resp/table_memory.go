package resp

// The commands about memory.
var memoryCommands = []command{
	{
		name: "memory", arity: -2, group: "server",
		flags: flagContainer,
		subs: []*command{
			{
				name: "doctor", arity: 2, group: "server", run: byServer(cmdMemoryDoctor),
				tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
			{
				name: "help", arity: 2, group: "server", run: cmdMemoryHelp,
				flags: flagLoading | flagStale,
			},
			{
				name: "malloc-stats", arity: 2, group: "server", run: byServer(cmdMemoryMallocStats),
				tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
			{
				name: "purge", arity: 2, group: "server", run: byServer(cmdMemoryPurge),
				tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				name: "stats", arity: 2, group: "server", run: byServer(cmdMemoryStats),
				tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
			{
				name: "usage", arity: -3, group: "server", run: cmdMemoryUsage,
				flags: flagReadonly,
				keys:  []keySpec{{flags: "RO", index: 2, step: 1}},
			},
		},
	},
}
