package resp

import "github.com/ringside-kv/ringside/resp/internal/command"

// The commands on databases as such.
var databaseCommands = []command.Row{
	{
		Name: "move", Arity: 3, Group: "generic", Run: byServer(cmdMove),
		// It becomes RING MOVE: see storedKeys.
		OtherDatabase: func([][]byte) int { return 2 },
		Flags:         command.FlagWrite | command.FlagFast,
		Keys:          []command.KeySpec{{Flags: "RW access update", Index: 1, Step: 1}},
	},
	{
		Name: "select", Arity: 2, Group: "connection", Run: byServer(cmdSelect),
		Flags: command.FlagLoading | command.FlagStale | command.FlagFast,
	},
	{
		Name: "swapdb", Arity: 3, Group: "server", Run: byServer(cmdSwapdb),
		Flags: command.FlagWrite | command.FlagFast | command.FlagKeyspace | command.FlagDangerous,
	},
}
