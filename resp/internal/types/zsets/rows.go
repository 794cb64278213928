package zsets

import "github.com/ringside-kv/ringside/resp/internal/command"

// Commands are the commands on members of sorted sets.
var Commands = []command.Row{
	{
		Name: "zadd", Arity: -4, Group: "sorted-set", Run: cmdZadd,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "zcard", Arity: 2, Group: "sorted-set", Run: cmdZcard,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO"),
	},
	{
		Name: "zdiff", Arity: -3, Group: "sorted-set", Run: cmdZdiff,
		Flags: command.FlagReadonly,
		Keys:  []command.KeySpec{{Flags: "RO access", Index: 1, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "zdiffstore", Arity: -4, Group: "sorted-set", Run: cmdZdiffstore,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  []command.KeySpec{{Flags: "OW update", Index: 1, Step: 1}, {Flags: "RO access", Index: 2, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "zincrby", Arity: 4, Group: "sorted-set", Run: cmdZincrby,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "zinter", Arity: -3, Group: "sorted-set", Run: cmdZinter,
		Flags: command.FlagReadonly,
		Keys:  []command.KeySpec{{Flags: "RO access", Index: 1, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "zintercard", Arity: -3, Group: "sorted-set", Run: cmdZintercard,
		Flags: command.FlagReadonly,
		Keys:  []command.KeySpec{{Flags: "RO access", Index: 1, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "zinterstore", Arity: -4, Group: "sorted-set", Run: cmdZinterstore,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  []command.KeySpec{{Flags: "OW update", Index: 1, Step: 1}, {Flags: "RO access", Index: 2, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "zmpop", Arity: -4, Group: "sorted-set", Run: cmdZmpop,
		Flags: command.FlagWrite,
		Frees: true,
		Keys:  []command.KeySpec{{Flags: "RW access delete", Index: 1, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "zmscore", Arity: -3, Group: "sorted-set", Run: cmdZmscore,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "zpopmax", Arity: -2, Group: "sorted-set", Run: cmdZpopmax,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW access delete"),
	},
	{
		Name: "zpopmin", Arity: -2, Group: "sorted-set", Run: cmdZpopmin,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW access delete"),
	},
	{
		Name: "zrandmember", Arity: -2, Group: "sorted-set", Run: cmdZrandmember,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "zrank", Arity: -3, Group: "sorted-set", Run: cmdZrank,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "zrem", Arity: -3, Group: "sorted-set", Run: cmdZrem,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW delete"),
	},
	{
		Name: "zrevrank", Arity: -3, Group: "sorted-set", Run: cmdZrevrank,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "zscan", Arity: -3, Group: "sorted-set", Run: cmdZscan,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "zscore", Arity: 3, Group: "sorted-set", Run: cmdZscore,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "zunion", Arity: -3, Group: "sorted-set", Run: cmdZunion,
		Flags: command.FlagReadonly,
		Keys:  []command.KeySpec{{Flags: "RO access", Index: 1, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "zunionstore", Arity: -4, Group: "sorted-set", Run: cmdZunionstore,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  []command.KeySpec{{Flags: "OW update", Index: 1, Step: 1}, {Flags: "RO access", Index: 2, Keynum: true, First: 1, Step: 1}},
	},
}
