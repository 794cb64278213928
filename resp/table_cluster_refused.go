package resp

// What Redis Cluster is told by hand, and what this one does by itself.
var clusterRefusals = []*command{
	{
		name: "addslots", arity: -3, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
	},
	{
		name: "addslotsrange", arity: -4, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
	},
	{
		name: "bumpepoch", arity: 2, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
		tips:  []string{"nondeterministic_output"},
	},
	{
		name: "count-failure-reports", arity: 3, group: "cluster", run: byServer(cmdClusterCountFailureReports),
		flags: flagAdmin | flagStale,
		tips:  []string{"nondeterministic_output"},
	},
	{
		name: "delslots", arity: -3, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
	},
	{
		name: "delslotsrange", arity: -4, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
	},
	{
		name: "failover", arity: -2, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
	},
	{
		name: "flushslots", arity: 2, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
	},
	{
		name: "forget", arity: 3, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
	},
	{
		name: "links", arity: 2, group: "cluster", refusal: msgNoLinks,
		flags: flagStale,
		tips:  []string{"nondeterministic_output"},
	},
	{
		name: "meet", arity: -4, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
	},
	{
		name: "replicas", arity: 3, group: "cluster", refusal: msgNoClusterReplicas,
		flags: flagAdmin | flagStale,
		tips:  []string{"nondeterministic_output"},
	},
	{
		name: "replicate", arity: 3, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
	},
	{
		name: "reset", arity: -2, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagNoScript | flagStale,
	},
	{
		name: "saveconfig", arity: 2, group: "cluster", run: byServer(cmdClusterSaveconfig),
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
	},
	{
		name: "set-config-epoch", arity: 3, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
	},
	{
		name: "setslot", arity: -4, group: "cluster", refusal: msgPlacementRules,
		flags: flagAdmin | flagStale | flagNoAsyncLoading,
	},
	{
		name: "slaves", arity: 3, group: "cluster", refusal: msgNoClusterReplicas,
		flags: flagAdmin | flagStale,

		tips: []string{"nondeterministic_output"},
	},
}
