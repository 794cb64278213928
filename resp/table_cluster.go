package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// The commands by which clients of Redis Cluster find their way.
var clusterCommands = []command.Row{
	{
		Name: "asking", Arity: 1, Group: "cluster", Run: byServer(cmdAsking),
		Flags: command.FlagFast | command.FlagConnection,
	},
	{
		Name: "readonly", Arity: 1, Group: "cluster", Run: byServer(cmdReadonly),
		Flags: command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagConnection,
	},
	{
		Name: "readwrite", Arity: 1, Group: "cluster", Run: byServer(cmdReadwrite),
		Flags: command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagConnection,
	},
	{
		Name: "cluster", Arity: -2, Group: "cluster",
		Flags: command.FlagContainer,
		Subs: append([]*command.Row{
			{
				Name: "countkeysinslot", Arity: 3, Group: "cluster", Run: byServer(cmdClusterCountkeysinslot),
				Spread: true,
				Flags:  command.FlagStale,
			},
			{
				Name: "getkeysinslot", Arity: 4, Group: "cluster", Run: byServer(cmdClusterGetkeysinslot),
				Spread: true,
				Flags:  command.FlagStale,
				Tips:   []string{"nondeterministic_output"},
			},
			{
				Name: "info", Arity: 2, Group: "cluster", Run: byServer(cmdClusterInfo),
				Flags: command.FlagStale,
				Tips:  []string{"nondeterministic_output"},
			},
			{
				Name: "keyslot", Arity: 3, Group: "cluster", Run: byServer(cmdClusterKeyslot),
				Flags: command.FlagStale,
			},
			{
				Name: "myid", Arity: 2, Group: "cluster", Run: byServer(cmdClusterMyid),
				Flags: command.FlagStale,
			},
			{
				Name: "myshardid", Arity: 2, Group: "cluster", Run: byServer(cmdClusterMyshardid),
				Flags: command.FlagStale,
				Tips:  []string{"nondeterministic_output"},
			},
			{
				Name: "nodes", Arity: 2, Group: "cluster", Run: byServer(cmdClusterNodes),
				Flags: command.FlagStale,
				Tips:  []string{"nondeterministic_output"},
			},
			{
				Name: "shards", Arity: 2, Group: "cluster", Run: byServer(cmdClusterShards),
				Flags: command.FlagLoading | command.FlagStale,
				Tips:  []string{"nondeterministic_output"},
			},
			{
				Name: "slot-stats", Arity: -4, Group: "cluster", Run: byServer(cmdClusterSlotStats),
				Flags: command.FlagStale | command.FlagLoading,
				Tips:  []string{"nondeterministic_output", "request_policy:all_shards"},
			},
			{
				Name: "slots", Arity: 2, Group: "cluster", Run: byServer(cmdClusterSlots),
				Flags: command.FlagLoading | command.FlagStale,
				Tips:  []string{"nondeterministic_output"},
			},
			{
				Name: "help", Arity: 2, Group: "cluster", Run: admin.ClusterHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
		}, admin.ClusterRefusals...),
	},
}
