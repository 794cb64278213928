package resp

import "github.com/ringside-kv/ringside/resp/internal/command"

// The commands about the server as a whole that act on its connections or on all keys. The others
// are in internal/admin.
var serverCommands = []command.Row{
	{
		Name: "dbsize", Arity: 1, Group: "server", Run: byServer(cmdDbsize),
		Spread: true,
		Flags:  command.FlagReadonly | command.FlagFast | command.FlagKeyspace,
		Tips:   []string{"request_policy:all_shards", "response_policy:agg_sum"},
	},
	{
		Name: "debug", Arity: -2, Group: "server", Run: byServer(cmdDebug), Protected: true,
		Waits: true,
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagSystem,
	},
	{
		Name: "flushall", Arity: -1, Group: "server", Run: byServer(cmdFlushall),
		Spread: true,
		Flags:  command.FlagWrite | command.FlagKeyspace | command.FlagDangerous,
		Frees:  true,
		Tips:   []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "flushdb", Arity: -1, Group: "server", Run: byServer(cmdFlushdb),
		Spread: true,
		Flags:  command.FlagWrite | command.FlagKeyspace | command.FlagDangerous,
		Frees:  true,
		Tips:   []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "monitor", Arity: 1, Group: "server", Run: byServer(cmdMonitor),
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
	},
}
