package sets

import "github.com/ringside-kv/ringside/resp/internal/command"

// Commands are the commands on sets.
var Commands = []command.Row{
	{
		Name: "sadd", Arity: -3, Group: "set", Run: cmdSadd,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW insert"),
	},
	{
		Name: "scard", Arity: 2, Group: "set", Run: cmdScard,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO"),
	},
	{
		Name: "sdiff", Arity: -2, Group: "set", Run: cmdSdiff,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output_order"},
		Keys:  command.AllKeys("RO access"),
	},
	{
		Name: "sdiffstore", Arity: -3, Group: "set", Run: cmdSdiffstore,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  []command.KeySpec{{Flags: "OW update", Index: 1, Step: 1}, {Flags: "RO access", Index: 2, Last: -1, Step: 1}},
	},
	{
		Name: "sinter", Arity: -2, Group: "set", Run: cmdSinter,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output_order"},
		Keys:  command.AllKeys("RO access"),
	},
	{
		Name: "sintercard", Arity: -3, Group: "set", Run: cmdSintercard,
		Flags: command.FlagReadonly,
		Keys:  []command.KeySpec{{Flags: "RO access", Index: 1, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "sinterstore", Arity: -3, Group: "set", Run: cmdSinterstore,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  []command.KeySpec{{Flags: "OW update", Index: 1, Step: 1}, {Flags: "RO access", Index: 2, Last: -1, Step: 1}},
	},
	{
		Name: "sismember", Arity: 3, Group: "set", Run: cmdSismember,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO"),
	},
	{
		Name: "smembers", Arity: 2, Group: "set", Run: cmdSmembers,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output_order"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "smismember", Arity: -3, Group: "set", Run: cmdSmismember,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "smove", Arity: 4, Group: "set", Run: cmdSmove,
		Flags: command.FlagWrite | command.FlagFast,
		Keys:  []command.KeySpec{{Flags: "RW access delete", Index: 1, Step: 1}, {Flags: "RW insert", Index: 2, Step: 1}},
	},
	{
		Name: "spop", Arity: -2, Group: "set", Run: cmdSpop,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RW access delete"),
	},
	{
		Name: "srandmember", Arity: -2, Group: "set", Run: cmdSrandmember,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "srem", Arity: -3, Group: "set", Run: cmdSrem,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW delete"),
	},
	{
		Name: "sscan", Arity: -3, Group: "set", Run: cmdSscan,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "sunion", Arity: -2, Group: "set", Run: cmdSunion,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output_order"},
		Keys:  command.AllKeys("RO access"),
	},
	{
		Name: "sunionstore", Arity: -3, Group: "set", Run: cmdSunionstore,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  []command.KeySpec{{Flags: "OW update", Index: 1, Step: 1}, {Flags: "RO access", Index: 2, Last: -1, Step: 1}},
	},
}
