package resp

// The commands by which clients of Redis Cluster find their way.
var clusterCommands = []command{
	{
		name: "asking", arity: 1, group: "cluster", since: "3.0.0", run: cmdAsking,
		flags:      flagFast | flagConnection,
		summary:    "Is accepted, and changes nothing: a slot has one owner at any time.",
		complexity: "O(1)",
	},
	{
		name: "readonly", arity: 1, group: "cluster", since: "3.0.0", run: cmdReadonly,
		flags:      flagLoading | flagStale | flagFast | flagConnection,
		summary:    "Is accepted, and changes nothing: only primaries answer reads.",
		complexity: "O(1)",
	},
	{
		name: "readwrite", arity: 1, group: "cluster", since: "3.0.0", run: cmdReadwrite,
		flags:      flagLoading | flagStale | flagFast | flagConnection,
		summary:    "Is accepted, and changes nothing: only primaries answer reads.",
		complexity: "O(1)",
	},
	{
		name: "cluster", arity: -2, group: "cluster", since: "3.0.0",
		flags:      flagContainer,
		summary:    "Groups the commands about slots and nodes.",
		complexity: "Depends on the subcommand.",
		subs: append([]*command{
			{
				name: "countkeysinslot", arity: 3, group: "cluster", since: "3.0.0", run: cmdClusterCountkeysinslot,
				flags:      flagStale,
				summary:    "Counts the keys of a slot on this node.",
				complexity: "O(N) with N the keys of the slot under --hash slot, all keys otherwise.",
				args:       []argument{{name: "slot", kind: argInteger}},
			},
			{
				name: "getkeysinslot", arity: 4, group: "cluster", since: "3.0.0", run: cmdClusterGetkeysinslot,
				flags:      flagStale,
				summary:    "Lists keys of a slot on this node.",
				complexity: "O(N) with N the keys listed under --hash slot, all keys otherwise.",
				tips:       []string{"nondeterministic_output"},
				args:       []argument{{name: "slot", kind: argInteger}, {name: "count", kind: argInteger}},
			},
			{
				name: "info", arity: 2, group: "cluster", since: "3.0.0", run: cmdClusterInfo,
				flags:      flagStale,
				summary:    "Tells how the cluster is, in the fields of Redis Cluster.",
				complexity: "O(N) with N the number of runs of slots.",
				tips:       []string{"nondeterministic_output"},
			},
			{
				name: "keyslot", arity: 3, group: "cluster", since: "3.0.0", run: cmdClusterKeyslot,
				flags:      flagStale,
				summary:    "Tells the slot of a key.",
				complexity: "O(N) with N the bytes of the key.",
				args:       []argument{{name: "key", kind: argString}},
			},
			{
				name: "myid", arity: 2, group: "cluster", since: "3.0.0", run: cmdClusterMyid,
				flags:      flagStale,
				summary:    "Tells the id of this node as clients of Redis Cluster know it.",
				complexity: "O(1)",
			},
			{
				name: "nodes", arity: 2, group: "cluster", since: "3.0.0", run: cmdClusterNodes,
				flags:      flagStale,
				summary:    "Lists the nodes with their slots, one node to a line.",
				complexity: "O(N) with N the number of nodes times runs of slots.",
				tips:       []string{"nondeterministic_output"},
			},
			{
				name: "shards", arity: 2, group: "cluster", since: "7.0.0", run: cmdClusterShards,
				flags:      flagStale,
				summary:    "Lists the slots with the nodes that have copies of them.",
				complexity: "O(N) with N the number of runs of slots.",
				tips:       []string{"nondeterministic_output"},
			},
			{
				name: "slots", arity: 2, group: "cluster", since: "3.0.0", run: cmdClusterSlots,
				flags:           flagStale,
				summary:         "Lists runs of slots with primary and replicas.",
				complexity:      "O(N) with N the number of runs of slots.",
				tips:            []string{"nondeterministic_output"},
				deprecatedSince: "7.0.0",
				replacedBy:      "`CLUSTER SHARDS`",
				history: [][2]string{
					{"4.0.0", "The nodes' ids."},
					{"7.0.0", "Further addresses of the nodes."},
				},
			},
			{
				name: "help", arity: 2, group: "cluster", since: "5.0.0", run: cmdClusterHelp,
				flags:      flagLoading | flagStale,
				summary:    "Lists the subcommands, with one line for each.",
				complexity: "O(1)",
			},
		}, clusterRefusals...),
	},
}
