package bloom

import "github.com/ringside-kv/ringside/resp/internal/command"

// Commands are the commands on Bloom filters.
var Commands = []command.Row{
	{
		Name: "bf.add", Arity: 3, Group: "bloom", Run: cmdAdd,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule | command.FlagFast,
		Keys:  command.OneKey("RW access insert"),
	},
	{
		Name: "bf.card", Arity: 2, Group: "bloom", Run: cmdCard,
		Flags: command.FlagReadonly | command.FlagModule | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "bf.exists", Arity: 3, Group: "bloom", Run: cmdExists,
		Flags: command.FlagReadonly | command.FlagModule | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "bf.info", Arity: -2, Group: "bloom", Run: cmdInfo,
		Flags: command.FlagReadonly | command.FlagModule | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "bf.insert", Arity: -4, Group: "bloom", Run: cmdInsert,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule,
		Keys:  command.OneKey("RW access insert"),
	},
	{
		Name: "bf.loadchunk", Arity: 4, Group: "bloom", Run: cmdLoadchunk,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule,
		Keys:  command.OneKey("RW insert"),
	},
	{
		Name: "bf.madd", Arity: -3, Group: "bloom", Run: cmdMadd,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule,
		Keys:  command.OneKey("RW access insert"),
	},
	{
		Name: "bf.mexists", Arity: -3, Group: "bloom", Run: cmdMexists,
		Flags: command.FlagReadonly | command.FlagModule,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "bf.reserve", Arity: -4, Group: "bloom", Run: cmdReserve,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule | command.FlagFast,
		Keys:  command.OneKey("OW insert"),
	},
	{
		Name: "bf.scandump", Arity: 3, Group: "bloom", Run: cmdScandump,
		Flags: command.FlagReadonly | command.FlagModule,
		Keys:  command.OneKey("RO access"),
	},
}
