package resp

// The commands by which clients of Redis Cluster find their way.
var clusterCommands = []command{
	{
		name: "asking", arity: 1, group: "cluster", run: cmdAsking,
		flags: flagFast | flagConnection,
	},
	{
		name: "readonly", arity: 1, group: "cluster", run: cmdReadonly,
		flags: flagLoading | flagStale | flagFast | flagConnection,
	},
	{
		name: "readwrite", arity: 1, group: "cluster", run: cmdReadwrite,
		flags: flagLoading | flagStale | flagFast | flagConnection,
	},
	{
		name: "cluster", arity: -2, group: "cluster",
		flags: flagContainer,
		subs: append([]*command{
			{
				name: "countkeysinslot", arity: 3, group: "cluster", run: cmdClusterCountkeysinslot,
				spread: true,
				flags:  flagStale,
			},
			{
				name: "getkeysinslot", arity: 4, group: "cluster", run: cmdClusterGetkeysinslot,
				spread: true,
				flags:  flagStale,
				tips:   []string{"nondeterministic_output"},
			},
			{
				name: "info", arity: 2, group: "cluster", run: cmdClusterInfo,
				flags: flagStale,
				tips:  []string{"nondeterministic_output"},
			},
			{
				name: "keyslot", arity: 3, group: "cluster", run: cmdClusterKeyslot,
				flags: flagStale,
			},
			{
				name: "myid", arity: 2, group: "cluster", run: cmdClusterMyid,
				flags: flagStale,
			},
			{
				name: "nodes", arity: 2, group: "cluster", run: cmdClusterNodes,
				flags: flagStale,
				tips:  []string{"nondeterministic_output"},
			},
			{
				name: "shards", arity: 2, group: "cluster", run: cmdClusterShards,
				flags: flagStale,
				tips:  []string{"nondeterministic_output"},
			},
			{
				name: "slots", arity: 2, group: "cluster", run: cmdClusterSlots,
				flags: flagStale,
				tips:  []string{"nondeterministic_output"},
			},
			{
				name: "help", arity: 2, group: "cluster", run: cmdClusterHelp,
				flags: flagLoading | flagStale,
			},
		}, clusterRefusals...),
	},
}
