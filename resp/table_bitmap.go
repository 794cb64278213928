package resp

// The commands on the bits of strings.
var bitmapCommands = []command{
	{
		name: "bitcount", arity: -2, group: "bitmap", since: "2.6.0", run: cmdBitcount,
		flags:      flagReadonly,
		summary:    "Counts the set bits of a string or of a part of it.",
		complexity: "O(N) with N the number of bytes looked at.",
		keys:       oneKey("RO access"),
		history:    [][2]string{{"7.0.0", "The unit, `BYTE` or `BIT`."}},
		args: []argument{
			keyArg,
			{name: "index", kind: argBlock, optional: true, args: []argument{
				{name: "start", kind: argInteger},
				{name: "end", kind: argInteger},
				{name: "index_unit", kind: argOneOf, since: "7.0.0", optional: true, args: tokens("BYTE", "BIT")},
			}},
		},
	},
	{
		name: "bitfield", arity: -2, group: "bitmap", since: "3.2.0", run: cmdBitfield,
		flags:      flagWrite | flagDenyOOM,
		summary:    "Reads, writes and increments integers of any width inside a string.",
		complexity: "O(1) for each operation.",
		keys: []keySpec{{
			flags: "RW access update variable_flags", index: 1, step: 1, vary: bitfieldKeyFlags,
			notes: "Only reads if each operation is a `GET`.",
		}},
		args: []argument{
			keyArg,
			{name: "operation", kind: argOneOf, optional: true, multiple: true, args: []argument{
				{name: "encoding_offset", kind: argBlock, token: "GET", args: []argument{
					{name: "encoding", kind: argString},
					{name: "offset", kind: argInteger},
				}},
				{name: "write", kind: argBlock, args: []argument{
					{name: "wrap_sat_fail", kind: argOneOf, token: "OVERFLOW", optional: true, args: tokens("WRAP", "SAT", "FAIL")},
					{name: "write_operation", kind: argOneOf, args: []argument{
						{name: "encoding_offset_value", kind: argBlock, token: "SET", args: []argument{
							{name: "encoding", kind: argString},
							{name: "offset", kind: argInteger},
							{name: "value", kind: argInteger},
						}},
						{name: "encoding_offset_increment", kind: argBlock, token: "INCRBY", args: []argument{
							{name: "encoding", kind: argString},
							{name: "offset", kind: argInteger},
							{name: "increment", kind: argInteger},
						}},
					}},
				}},
			}},
		},
	},
	{
		name: "bitfield_ro", arity: -2, group: "bitmap", since: "6.0.0", run: cmdBitfieldRo,
		flags:      flagReadonly | flagFast,
		summary:    "Reads integers of any width inside a string.",
		complexity: "O(1) for each operation.",
		keys:       oneKey("RO access"),
		args: []argument{
			keyArg,
			{name: "encoding_offset", kind: argBlock, token: "GET", optional: true, multiple: true, multipleToken: true, args: []argument{
				{name: "encoding", kind: argString},
				{name: "offset", kind: argInteger},
			}},
		},
	},
	{
		name: "bitop", arity: -4, group: "bitmap", since: "2.6.0", run: cmdBitop,
		flags:      flagWrite | flagDenyOOM,
		summary:    "Combines strings bit by bit and stores the result.",
		complexity: "O(N) with N the total length of the strings.",
		keys: []keySpec{
			{flags: "OW update", index: 2, step: 1},
			{flags: "RO access", index: 3, last: -1, step: 1},
		},
		args: []argument{
			{name: "operation", kind: argString},
			{name: "destkey", kind: argKey, keySpec: 1},
			{name: "key", kind: argKey, keySpec: 2, multiple: true},
		},
	},
	{
		name: "bitpos", arity: -3, group: "bitmap", since: "2.8.7", run: cmdBitpos,
		flags:      flagReadonly,
		summary:    "Finds the first bit of a string that is 0, or 1.",
		complexity: "O(N) with N the number of bytes looked at.",
		keys:       oneKey("RO access"),
		history:    [][2]string{{"7.0.0", "The unit, `BYTE` or `BIT`."}},
		args: []argument{
			keyArg,
			{name: "bit", kind: argInteger},
			{name: "index", kind: argBlock, optional: true, args: []argument{
				{name: "start", kind: argInteger},
				{name: "end_index", kind: argBlock, optional: true, args: []argument{
					{name: "end", kind: argInteger},
					{name: "index_unit", kind: argOneOf, since: "7.0.0", optional: true, args: tokens("BYTE", "BIT")},
				}},
			}},
		},
	},
	{
		name: "getbit", arity: 3, group: "bitmap", since: "2.2.0", run: cmdGetbit,
		flags:      flagReadonly | flagFast,
		summary:    "Returns one bit of a string.",
		complexity: "O(1)",
		keys:       oneKey("RO access"),
		args:       []argument{keyArg, {name: "offset", kind: argInteger}},
	},
	{
		name: "setbit", arity: 4, group: "bitmap", since: "2.2.0", run: cmdSetbit,
		flags:      flagWrite | flagDenyOOM,
		summary:    "Sets or clears one bit of a string and returns what it was.",
		complexity: "O(1)",
		keys:       oneKey("RW access update"),
		args:       []argument{keyArg, {name: "offset", kind: argInteger}, {name: "value", kind: argInteger}},
	},
}
