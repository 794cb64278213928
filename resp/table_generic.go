package resp

import "github.com/ringside-kv/ringside/resp/internal/command"

// The commands that work on keys of any type.
var genericCommands = []command.Row{
	{
		Name: "clusterscan", Arity: -2, Group: "cluster", Run: byServer(cmdScan), // of Valkey 9.1
		Spread: true,
		Flags:  command.FlagReadonly | command.FlagKeyspace,
		Tips:   []string{"nondeterministic_output", "request_policy:special", "response_policy:special"},
	},
	{
		Name: "keys", Arity: 2, Group: "generic", Run: byServer(cmdKeys),
		Spread: true,
		Flags:  command.FlagReadonly | command.FlagDangerous,
		Tips:   []string{"request_policy:all_shards", "nondeterministic_output_order"},
	},
	{
		Name: "randomkey", Arity: 1, Quick: true, Group: "generic", Run: byServer(cmdRandomkey),
		Spread: true,
		Flags:  command.FlagReadonly,
		Tips:   []string{"request_policy:all_shards", "response_policy:special", "nondeterministic_output"},
	},
	{
		Name: "scan", Arity: -2, Group: "generic", Run: byServer(cmdScan),
		Spread: true,
		Flags:  command.FlagReadonly,
		Tips:   []string{"nondeterministic_output", "request_policy:special", "response_policy:special"},
	},
	{
		Name: "wait", Arity: 3, Group: "generic", Run: byServer(cmdWait),
		Waits: true,
		Flags: command.FlagBlocking | command.FlagConnection,
		Tips:  []string{"request_policy:all_shards", "response_policy:agg_min"},
	},
	{
		Name: "waitaof", Arity: 4, Group: "generic", Run: byServer(cmdWaitaof),
		Waits: true,
		Flags: command.FlagBlocking | command.FlagConnection,
		Tips:  []string{"request_policy:all_shards", "response_policy:agg_min"},
	},
}
