package resp

// What Redis Cluster is told by hand, and what this one does by itself.
var clusterRefusals = []*command{
	{
		name: "addslots", arity: -3, group: "cluster", since: "3.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Takes slots; refused, since the cluster sees to that.",
		complexity: "O(1)",
		args: []argument{
			{name: "slot", kind: argInteger, multiple: true},
		},
	},
	{
		name: "addslotsrange", arity: -4, group: "cluster", since: "7.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Takes ranges of slots; refused, since the cluster sees to that.",
		complexity: "O(1)",
		args: []argument{
			{name: "start-slot_end-slot", kind: argBlock, multiple: true, args: []argument{
				{name: "start-slot", kind: argInteger},
				{name: "end-slot", kind: argInteger},
			}},
		},
	},
	{
		name: "bumpepoch", arity: 2, group: "cluster", since: "3.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Raises the node's epoch; refused, since the cluster sees to that.",
		complexity: "O(1)",
		tips:       []string{"nondeterministic_output"},
	},
	{
		name: "count-failure-reports", arity: 3, group: "cluster", since: "3.0.0", run: cmdClusterCountFailureReports,
		flags:      flagAdmin | flagStale,
		summary:    "Counts the nodes that think another has failed: none say so.",
		complexity: "O(1)",
		tips:       []string{"nondeterministic_output"},
		args: []argument{
			{name: "node-id", kind: argString},
		},
	},
	{
		name: "delslots", arity: -3, group: "cluster", since: "3.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Gives slots up; refused, since the cluster sees to that.",
		complexity: "O(1)",
		args: []argument{
			{name: "slot", kind: argInteger, multiple: true},
		},
	},
	{
		name: "delslotsrange", arity: -4, group: "cluster", since: "7.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Gives ranges of slots up; refused, since the cluster sees to that.",
		complexity: "O(1)",
		args: []argument{
			{name: "start-slot_end-slot", kind: argBlock, multiple: true, args: []argument{
				{name: "start-slot", kind: argInteger},
				{name: "end-slot", kind: argInteger},
			}},
		},
	},
	{
		name: "failover", arity: -2, group: "cluster", since: "3.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Has this replica take over; refused, since the cluster sees to that.",
		complexity: "O(1)",
		args: []argument{
			{name: "options", kind: argOneOf, optional: true, args: tokens("FORCE", "TAKEOVER")},
		},
	},
	{
		name: "flushslots", arity: 2, group: "cluster", since: "3.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Gives all slots up; refused, since the cluster sees to that.",
		complexity: "O(1)",
	},
	{
		name: "forget", arity: 3, group: "cluster", since: "3.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Removes a node; refused, since the cluster sees to that.",
		complexity: "O(1)",
		args: []argument{
			{name: "node-id", kind: argString},
		},
	},
	{
		name: "links", arity: 2, group: "cluster", since: "7.0.0", refusal: msgNoLinks,
		flags:      flagStale,
		summary:    "Lists the connections between nodes.",
		complexity: "O(1)",
		tips:       []string{"nondeterministic_output"},
	},
	{
		name: "meet", arity: -4, group: "cluster", since: "3.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Makes nodes know each other; refused, since the cluster sees to that.",
		complexity: "O(1)",
		history:    [][2]string{{"4.0.0", "The argument `cluster_bus_port`."}},
		args: []argument{
			{name: "ip", kind: argString},
			{name: "port", kind: argInteger},
			{name: "cluster_bus_port", kind: argInteger, since: "4.0.0", optional: true},
		},
	},
	{
		name: "replicas", arity: 3, group: "cluster", since: "5.0.0", refusal: msgNoClusterReplicas,
		flags:      flagAdmin | flagStale,
		summary:    "Lists the replicas of a node; refused.",
		complexity: "O(1)",
		tips:       []string{"nondeterministic_output"},
		args: []argument{
			{name: "node-id", kind: argString},
		},
	},
	{
		name: "replicate", arity: 3, group: "cluster", since: "3.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Makes the node a replica of another; refused, since the cluster sees to that.",
		complexity: "O(1)",
		args: []argument{
			{name: "node-id", kind: argString},
		},
	},
	{
		name: "reset", arity: -2, group: "cluster", since: "3.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagNoScript | flagStale,
		summary:    "Makes the node one of its own; refused, since the cluster sees to that.",
		complexity: "O(1)",
		args: []argument{
			{name: "hard_soft", kind: argOneOf, optional: true, args: tokens("HARD", "SOFT")},
		},
	},
	{
		name: "saveconfig", arity: 2, group: "cluster", since: "3.0.0", run: cmdClusterSaveconfig,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Has the placement on disk, where it always is.",
		complexity: "O(1)",
	},
	{
		name: "set-config-epoch", arity: 3, group: "cluster", since: "3.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Sets the node's epoch; refused, since the cluster sees to that.",
		complexity: "O(1)",
		args: []argument{
			{name: "config-epoch", kind: argInteger},
		},
	},
	{
		name: "setslot", arity: -4, group: "cluster", since: "3.0.0", refusal: msgPlacementRules,
		flags:      flagAdmin | flagStale | flagNoAsyncLoading,
		summary:    "Moves a slot; refused, since the cluster sees to that.",
		complexity: "O(1)",
		args: []argument{
			{name: "slot", kind: argInteger},
			{name: "subcommand", kind: argOneOf, args: []argument{
				{name: "node-id", kind: argString, token: "IMPORTING"},
				{name: "node-id", kind: argString, token: "MIGRATING"},
				{name: "node-id", kind: argString, token: "NODE"},
				{name: "stable", kind: argPureToken, token: "STABLE"},
			}},
		},
	},
	{
		name: "slaves", arity: 3, group: "cluster", since: "3.0.0", refusal: msgNoClusterReplicas,
		flags:           flagAdmin | flagStale,
		summary:         "Lists the replicas of a node; refused.",
		complexity:      "O(1)",
		deprecatedSince: "5.0.0",
		replacedBy:      "`CLUSTER REPLICAS`",
		tips:            []string{"nondeterministic_output"},
		args: []argument{
			{name: "node-id", kind: argString},
		},
	},
}
