package hashes

import "github.com/ringside-kv/ringside/resp/internal/command"

// Commands are the commands on hashes.
var Commands = []command.Row{
	{
		Name: "hdel", Arity: -3, Group: "hash", Run: cmdHdel,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW delete"),
	},
	{
		Name: "hexists", Arity: 3, Group: "hash", Run: cmdHexists,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO"),
	},
	{
		Name: "hexpire", Arity: -6, Group: "hash", Run: cmdHexpire,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "hexpireat", Arity: -6, Group: "hash", Run: cmdHexpireat,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "hexpiretime", Arity: -5, Group: "hash", Run: cmdHexpiretime,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "hget", Arity: 3, Group: "hash", Run: cmdHget,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "hgetall", Arity: 2, Group: "hash", Run: cmdHgetall,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output_order"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "hgetdel", Arity: -5, Group: "hash", Run: cmdHgetdel,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW access delete"),
	},
	{
		Name: "hgetex", Arity: -5, Group: "hash", Run: cmdHgetex,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true, // also with PERSIST, which writes as little
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "hincrby", Arity: 4, Group: "hash", Run: cmdHincrby,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "hincrbyfloat", Arity: 4, Group: "hash", Run: cmdHincrbyfloat,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "hkeys", Arity: 2, Group: "hash", Run: cmdHkeys,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output_order"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "hlen", Arity: 2, Group: "hash", Run: cmdHlen,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO"),
	},
	{
		Name: "hmget", Arity: -3, Group: "hash", Run: cmdHmget,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "hmset", Arity: -4, Group: "hash", Run: cmdHmset,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,

		Keys: command.OneKey("RW update"),
	},
	{
		Name: "hpersist", Arity: -5, Group: "hash", Run: cmdHpersist,
		Flags: command.FlagWrite | command.FlagFast,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "hpexpire", Arity: -6, Group: "hash", Run: cmdHpexpire,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "hpexpireat", Arity: -6, Group: "hash", Run: cmdHpexpireat,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "hpexpiretime", Arity: -5, Group: "hash", Run: cmdHpexpiretime,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "hpttl", Arity: -5, Group: "hash", Run: cmdHpttl,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "hrandfield", Arity: -2, Group: "hash", Run: cmdHrandfield,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "hscan", Arity: -3, Group: "hash", Run: cmdHscan,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "hset", Arity: -4, Group: "hash", Run: cmdHset,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "hsetex", Arity: -6, Group: "hash", Run: cmdHsetex,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "hsetnx", Arity: 4, Group: "hash", Run: cmdHsetnx,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW insert"),
	},
	{
		Name: "hstrlen", Arity: 3, Group: "hash", Run: cmdHstrlen,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO"),
	},
	{
		Name: "httl", Arity: -5, Group: "hash", Run: cmdHttl,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "hvals", Arity: 2, Group: "hash", Run: cmdHvals,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output_order"},
		Keys:  command.OneKey("RO access"),
	},
}
