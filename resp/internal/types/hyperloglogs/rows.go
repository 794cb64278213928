package hyperloglogs

import "github.com/ringside-kv/ringside/resp/internal/command"

// Commands are the commands on sketches of sets.
var Commands = []command.Row{
	{
		Name: "pfadd", Arity: -2, Group: "hyperloglog", Run: cmdPfadd,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW insert"),
	},
	{
		Name: "pfcount", Arity: -2, Group: "hyperloglog", Run: cmdPfcount,
		Flags: command.FlagReadonly | command.FlagMayReplicate,
		Keys:  []command.KeySpec{{Flags: "RW access", Notes: "RW since Redis notes the estimate in the key", Index: 1, Last: -1, Step: 1}},
	},
	{
		Name: "pfdebug", Arity: 3, Group: "hyperloglog", Run: cmdPfdebug,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagAdmin | command.FlagSystem,
		Keys:  command.SubKey("RW access"),
	},
	{
		Name: "pfmerge", Arity: -2, Group: "hyperloglog", Run: cmdPfmerge,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  []command.KeySpec{{Flags: "RW access insert", Index: 1, Step: 1}, {Flags: "RO access", Index: 2, Last: -1, Step: 1, Optional: true}},
	},
	{
		Name: "pfselftest", Arity: 1, Group: "hyperloglog", Run: cmdPfselftest,
		Flags: command.FlagAdmin | command.FlagSystem,
	},
}
