package zsets

import "github.com/ringside-kv/ringside/resp/internal/command"

// RangeCommands are the commands on ranges of sorted sets.
var RangeCommands = []command.Row{
	{
		Name: "zcount", Arity: 4, Group: "sorted-set", Run: cmdZcount,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "zlexcount", Arity: 4, Group: "sorted-set", Run: cmdZlexcount,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "zrange", Arity: -4, Group: "sorted-set", Run: cmdZrange,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "zrangebylex", Arity: -4, Group: "sorted-set", Run: cmdZrangebylex,
		Flags: command.FlagReadonly,

		Keys: command.OneKey("RO access"),
	},
	{
		Name: "zrangebyscore", Arity: -4, Group: "sorted-set", Run: cmdZrangebyscore,
		Flags: command.FlagReadonly,

		Keys: command.OneKey("RO access"),
	},
	{
		Name: "zrangestore", Arity: -5, Group: "sorted-set", Run: cmdZrangestore,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  []command.KeySpec{{Flags: "OW update", Index: 1, Step: 1}, {Flags: "RO access", Index: 2, Step: 1}},
	},
	{
		Name: "zremrangebylex", Arity: 4, Group: "sorted-set", Run: cmdZremrangebylex,
		Flags: command.FlagWrite,
		Frees: true,
		Keys:  command.OneKey("RW delete"),
	},
	{
		Name: "zremrangebyrank", Arity: 4, Group: "sorted-set", Run: cmdZremrangebyrank,
		Flags: command.FlagWrite,
		Frees: true,
		Keys:  command.OneKey("RW delete"),
	},
	{
		Name: "zremrangebyscore", Arity: 4, Group: "sorted-set", Run: cmdZremrangebyscore,
		Flags: command.FlagWrite,
		Frees: true,
		Keys:  command.OneKey("RW delete"),
	},
	{
		Name: "zrevrange", Arity: -4, Group: "sorted-set", Run: cmdZrevrange,
		Flags: command.FlagReadonly,

		Keys: command.OneKey("RO access"),
	},
	{
		Name: "zrevrangebylex", Arity: -4, Group: "sorted-set", Run: cmdZrevrangebylex,
		Flags: command.FlagReadonly,

		Keys: command.OneKey("RO access"),
	},
	{
		Name: "zrevrangebyscore", Arity: -4, Group: "sorted-set", Run: cmdZrevrangebyscore,
		Flags: command.FlagReadonly,

		Keys: command.OneKey("RO access"),
	},
}
