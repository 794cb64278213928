package resp

import "github.com/ringside-kv/ringside/resp/internal/command"

// The commands of transactions.
var transactionCommands = []command.Row{
	{
		Name: "discard", Arity: 1, Group: "transactions", Run: byServer(cmdDiscard), InMulti: command.MultiRuns,
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagAllowBusy,
	},
	{
		Name: "exec", Arity: 1, Group: "transactions", Run: byServer(cmdExec), InMulti: command.MultiEnds,
		Waits: true,
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagSkipSlowlog,
	},
	{
		Name: "multi", Arity: 1, Group: "transactions", Run: byServer(cmdMulti), InMulti: command.MultiRuns,
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagAllowBusy,
	},
	{
		Name: "unwatch", Arity: 1, Group: "transactions", Run: byServer(cmdUnwatch),
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagAllowBusy,
	},
	{
		Name: "watch", Arity: -2, Group: "transactions", Run: byServer(cmdWatch), InMulti: command.MultiRuns,
		Waits: true, Unkeyed: true,
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagAllowBusy,
		Keys:  command.AllKeys("RO"),
	},
}
