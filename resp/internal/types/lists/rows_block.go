package lists

import "github.com/ringside-kv/ringside/resp/internal/command"

// BlockingCommands are the commands on lists that wait for an element.
var BlockingCommands = []command.Row{
	{
		Name: "blmove", Arity: 6, Group: "list", Run: cmdBlmove,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagBlocking,
		Keys:  []command.KeySpec{{Flags: "RW access delete", Index: 1, Step: 1}, {Flags: "RW insert", Index: 2, Step: 1}},
	},
	{
		Name: "blmpop", Arity: -5, Group: "list", Run: cmdBlmpop,
		Flags: command.FlagWrite | command.FlagBlocking,
		Frees: true,
		Keys:  []command.KeySpec{{Flags: "RW access delete", Index: 2, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "blpop", Arity: -3, Group: "list", Run: cmdBlpop,
		Flags: command.FlagWrite | command.FlagBlocking,
		Frees: true,
		Keys:  []command.KeySpec{{Flags: "RW access delete", Index: 1, Last: -2, Step: 1}},
	},
	{
		Name: "brpop", Arity: -3, Group: "list", Run: cmdBrpop,
		Flags: command.FlagWrite | command.FlagBlocking,
		Frees: true,
		Keys:  []command.KeySpec{{Flags: "RW access delete", Index: 1, Last: -2, Step: 1}},
	},
	{
		Name: "brpoplpush", Arity: 4, Group: "list", Run: cmdBrpoplpush,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagBlocking,

		Keys: []command.KeySpec{{Flags: "RW access delete", Index: 1, Step: 1}, {Flags: "RW insert", Index: 2, Step: 1}},
	},
}
