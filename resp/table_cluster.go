package resp

// The commands by which clients of Redis Cluster find their way.
var clusterCommands = []command{
	{
		name: "asking", arity: 1, group: "cluster", run: byServer(cmdAsking),
		flags: flagFast | flagConnection,
	},
	{
		name: "readonly", arity: 1, group: "cluster", run: byServer(cmdReadonly),
		flags: flagLoading | flagStale | flagFast | flagConnection,
	},
	{
		name: "readwrite", arity: 1, group: "cluster", run: byServer(cmdReadwrite),
		flags: flagLoading | flagStale | flagFast | flagConnection,
	},
	{
		name: "cluster", arity: -2, group: "cluster",
		flags: flagContainer,
		subs: append([]*command{
			{
				name: "countkeysinslot", arity: 3, group: "cluster", run: byServer(cmdClusterCountkeysinslot),
				spread: true,
				flags:  flagStale,
			},
			{
				name: "getkeysinslot", arity: 4, group: "cluster", run: byServer(cmdClusterGetkeysinslot),
				spread: true,
				flags:  flagStale,
				tips:   []string{"nondeterministic_output"},
			},
			{
				name: "info", arity: 2, group: "cluster", run: byServer(cmdClusterInfo),
				flags: flagStale,
				tips:  []string{"nondeterministic_output"},
			},
			{
				name: "keyslot", arity: 3, group: "cluster", run: byServer(cmdClusterKeyslot),
				flags: flagStale,
			},
			{
				name: "myid", arity: 2, group: "cluster", run: byServer(cmdClusterMyid),
				flags: flagStale,
			},
			{
				name: "nodes", arity: 2, group: "cluster", run: byServer(cmdClusterNodes),
				flags: flagStale,
				tips:  []string{"nondeterministic_output"},
			},
			{
				name: "shards", arity: 2, group: "cluster", run: byServer(cmdClusterShards),
				flags: flagStale,
				tips:  []string{"nondeterministic_output"},
			},
			{
				name: "slots", arity: 2, group: "cluster", run: byServer(cmdClusterSlots),
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
