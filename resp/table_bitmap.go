package resp

// The commands on the bits of strings.
var bitmapCommands = []command{
	{
		name: "bitcount", arity: -2, group: "bitmap", run: cmdBitcount,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "bitfield", arity: -2, group: "bitmap", run: cmdBitfield,
		flags: flagWrite | flagDenyOOM,
		keys: []keySpec{{
			flags: "RW access update variable_flags", index: 1, step: 1, vary: bitfieldKeyFlags,
			notes: "Only reads if each operation is a `GET`.",
		}},
	},
	{
		name: "bitfield_ro", arity: -2, group: "bitmap", run: cmdBitfieldRo,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "bitop", arity: -4, group: "bitmap", run: cmdBitop,
		flags: flagWrite | flagDenyOOM,
		keys: []keySpec{
			{flags: "OW update", index: 2, step: 1},
			{flags: "RO access", index: 3, last: -1, step: 1},
		},
	},
	{
		name: "bitpos", arity: -3, group: "bitmap", run: cmdBitpos,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "getbit", arity: 3, group: "bitmap", run: cmdGetbit,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "setbit", arity: 4, quick: true, group: "bitmap", run: cmdSetbit,
		flags: flagWrite | flagDenyOOM,
		keys:  oneKey("RW access update"),
	},
}
