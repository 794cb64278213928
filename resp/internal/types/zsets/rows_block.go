package zsets

import "github.com/ringside-kv/ringside/resp/internal/command"

// BlockingCommands are the commands on sorted sets that wait for a member.
var BlockingCommands = []command.Row{
	{
		Name: "bzmpop", Arity: -5, Group: "sorted-set", Run: cmdBzmpop,
		Flags: command.FlagWrite | command.FlagBlocking,
		Frees: true,
		Keys:  []command.KeySpec{{Flags: "RW access delete", Index: 2, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "bzpopmax", Arity: -3, Group: "sorted-set", Run: cmdBzpopmax,
		Flags: command.FlagWrite | command.FlagBlocking | command.FlagFast,
		Frees: true,
		Keys:  []command.KeySpec{{Flags: "RW access delete", Index: 1, Last: -2, Step: 1}},
	},
	{
		Name: "bzpopmin", Arity: -3, Group: "sorted-set", Run: cmdBzpopmin,
		Flags: command.FlagWrite | command.FlagBlocking | command.FlagFast,
		Frees: true,
		Keys:  []command.KeySpec{{Flags: "RW access delete", Index: 1, Last: -2, Step: 1}},
	},
}
