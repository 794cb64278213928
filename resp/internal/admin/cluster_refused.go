package admin

import "github.com/ringside-kv/ringside/resp/internal/command"

// ClusterRefusals are subcommands of CLUSTER: what Redis Cluster is told by hand, and this one does by
// itself.
var ClusterRefusals = []*command.Row{
	{
		Name: "addslots", Arity: -3, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "addslotsrange", Arity: -4, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "bumpepoch", Arity: 2, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
		Tips:  []string{"nondeterministic_output"},
	},
	{
		Name: "count-failure-reports", Arity: 3, Group: "cluster", Run: cmdClusterCountFailureReports,
		Flags: command.FlagAdmin | command.FlagStale,
		Tips:  []string{"nondeterministic_output"},
	},
	{
		Name: "delslots", Arity: -3, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "delslotsrange", Arity: -4, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "failover", Arity: -2, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "flushslots", Arity: 2, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "forget", Arity: 3, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "links", Arity: 2, Group: "cluster", Refusal: msgNoLinks,
		Flags: command.FlagStale,
		Tips:  []string{"nondeterministic_output"},
	},
	{
		Name: "meet", Arity: -4, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "replicas", Arity: 3, Group: "cluster", Refusal: msgNoClusterReplicas,
		Flags: command.FlagAdmin | command.FlagStale,
		Tips:  []string{"nondeterministic_output"},
	},
	{
		Name: "replicate", Arity: 3, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "reset", Arity: -2, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagStale,
	},
	{
		Name: "saveconfig", Arity: 2, Group: "cluster", Run: cmdClusterSaveconfig,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "set-config-epoch", Arity: 3, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "setslot", Arity: -4, Group: "cluster", Refusal: msgPlacementRules,
		Flags: command.FlagAdmin | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "slaves", Arity: 3, Group: "cluster", Refusal: msgNoClusterReplicas,
		Flags: command.FlagAdmin | command.FlagStale,

		Tips: []string{"nondeterministic_output"},
	},
}

const (
	msgPlacementRules    = "ERR the cluster itself decides which node has which keys: see RING HELP"
	msgNoLinks           = "ERR CLUSTER LINKS is not supported: see RING INFO"
	msgNoClusterReplicas = "ERR a node has backups of some ranges and is the primary of others: see CLUSTER SHARDS and RING PLACEMENT"
)

// cmdClusterSaveconfig: the placement is on disk before anybody goes by it.
func cmdClusterSaveconfig(x *command.Call) { x.OK() }

// cmdClusterCountFailureReports: nodes tell one another whether they are alive, not whether
// others are.
func cmdClusterCountFailureReports(x *command.Call) { x.Int(0) }
