package bitmaps

import "github.com/ringside-kv/ringside/resp/internal/command"

// Commands are the commands on the bits of strings.
var Commands = []command.Row{
	{
		Name: "bitcount", Arity: -2, Group: "bitmap", Run: cmdBitcount,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "bitfield", Arity: -2, Group: "bitmap", Run: cmdBitfield,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys: []command.KeySpec{{
			Flags: "RW access update variable_flags", Index: 1, Step: 1, Vary: bitfieldKeyFlags,
			Notes: "Only reads if each operation is a `GET`.",
		}},
	},
	{
		Name: "bitfield_ro", Arity: -2, Group: "bitmap", Run: cmdBitfieldRo,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "bitop", Arity: -4, Group: "bitmap", Run: cmdBitop,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys: []command.KeySpec{
			{Flags: "OW update", Index: 2, Step: 1},
			{Flags: "RO access", Index: 3, Last: -1, Step: 1},
		},
	},
	{
		Name: "bitpos", Arity: -3, Group: "bitmap", Run: cmdBitpos,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "getbit", Arity: 3, Group: "bitmap", Run: cmdGetbit,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "setbit", Arity: 4, Quick: true, Group: "bitmap", Run: cmdSetbit,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  command.OneKey("RW access update"),
	},
}
