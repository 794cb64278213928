package lists

import "github.com/ringside-kv/ringside/resp/internal/command"

// Commands are the commands on lists.
var Commands = []command.Row{
	{
		Name: "lindex", Arity: 3, Quick: true, Group: "list", Run: cmdLindex,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "linsert", Arity: 5, Group: "list", Run: cmdLinsert,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  command.OneKey("RW insert"),
	},
	{
		Name: "llen", Arity: 2, Group: "list", Run: cmdLlen,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO"),
	},
	{
		Name: "lmove", Arity: 5, Quick: true, Group: "list", Run: cmdLmove,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  []command.KeySpec{{Flags: "RW access delete", Index: 1, Step: 1}, {Flags: "RW insert", Index: 2, Step: 1}},
	},
	{
		Name: "lmpop", Arity: -4, Group: "list", Run: cmdLmpop,
		Flags: command.FlagWrite,
		Frees: true,
		Keys:  []command.KeySpec{{Flags: "RW access delete", Index: 1, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "lpop", Arity: -2, Group: "list", Run: cmdLpop,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW access delete"),
	},
	{
		Name: "lpos", Arity: -3, Group: "list", Run: cmdLpos,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "lpush", Arity: -3, Group: "list", Run: cmdLpush,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW insert"),
	},
	{
		Name: "lpushx", Arity: -3, Group: "list", Run: cmdLpushx,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW insert"),
	},
	{
		Name: "lrange", Arity: 4, Group: "list", Run: cmdLrange,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "lrem", Arity: 4, Group: "list", Run: cmdLrem,
		Flags: command.FlagWrite,
		Frees: true,
		Keys:  command.OneKey("RW delete"),
	},
	{
		Name: "lset", Arity: 4, Quick: true, Group: "list", Run: cmdLset,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "ltrim", Arity: 4, Group: "list", Run: cmdLtrim,
		Flags: command.FlagWrite,
		Frees: true,
		Keys:  command.OneKey("RW delete"),
	},
	{
		Name: "rpop", Arity: -2, Group: "list", Run: cmdRpop,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW access delete"),
	},
	{
		Name: "rpoplpush", Arity: 3, Quick: true, Group: "list", Run: cmdRpoplpush,
		Flags: command.FlagWrite | command.FlagDenyOOM,

		Keys: []command.KeySpec{{Flags: "RW access delete", Index: 1, Step: 1}, {Flags: "RW insert", Index: 2, Step: 1}},
	},
	{
		Name: "rpush", Arity: -3, Group: "list", Run: cmdRpush,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW insert"),
	},
	{
		Name: "rpushx", Arity: -3, Group: "list", Run: cmdRpushx,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW insert"),
	},
}
