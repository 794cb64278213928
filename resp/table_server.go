package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/hotkeys"
)

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
		Name: "hotkeys", Arity: -2, Group: "server",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			hotkeysRow("start", -2, (*hotkeys.Tracker).Start),
			hotkeysRow("stop", 2, (*hotkeys.Tracker).Stop),
			hotkeysRow("get", 2, (*hotkeys.Tracker).Get),
			hotkeysRow("reset", 2, (*hotkeys.Tracker).Reset),
			{
				Name: "help", Arity: 2, Group: "server", Run: hotkeys.Help,
				Flags: command.FlagLoading | command.FlagStale,
			},
		},
	},
	{
		Name: "monitor", Arity: 1, Group: "server", Run: byServer(cmdMonitor), AsksNodes: true,
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
	},
	{
		Name: "psync", Arity: -3, Group: "server", Run: byServer(cmdPsync), Waits: true,
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagNoAsyncLoading | command.FlagNoMulti,
	},
	{
		Name: "sync", Arity: 1, Group: "server", Run: byServer(cmdPsync), Waits: true,
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagNoAsyncLoading | command.FlagNoMulti,
	},
	{
		Name: "replconf", Arity: -1, Group: "server", Run: byServer(cmdReplconf),
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagAllowBusy | command.FlagSystem,
	},
}

// hotkeysRow is a row of HOTKEYS, which all nodes carry out.
func hotkeysRow(name string, arity int, run func(*hotkeys.Tracker, *command.Call, hotkeys.Cluster)) *command.Row {
	return &command.Row{
		Name: name, Arity: arity, Group: "server", AsksNodes: true, ForNodes: true,
		Flags: command.FlagAdmin | command.FlagNoScript,
		Run: byServer(func(x *call) {
			run(&x.srv.hotkeys, &x.Call, hotkeys.Cluster{
				Ask: func() [][]byte { return x.askPeers(x.raw()) }, Slots: x.srv.clusterMode(), CPU: admin.CPUTimes,
			})
		}),
	}
}
