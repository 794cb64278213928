package strings

import "github.com/ringside-kv/ringside/resp/internal/command"

// Commands are the commands on strings.
var Commands = []command.Row{
	{
		Name: "append", Arity: 3, Group: "string", Run: cmdAppend,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW insert"),
	},
	{
		Name: "decr", Arity: 2, Group: "string", Run: cmdDecr,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "decrby", Arity: 3, Group: "string", Run: cmdDecrby,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "delex", Arity: -2, Group: "string", Run: cmdDelex,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  []command.KeySpec{{Flags: "RW delete variable_flags", Index: 1, Step: 1, Vary: delexKeyFlags}},
	},
	{
		Name: "delifeq", Arity: 3, Group: "string", Run: cmdDelifeq,
		Flags: command.FlagWrite,
		Frees: true,
		Keys:  command.OneKey("RM access delete"),
	},
	{
		Name: "digest", Arity: 2, Group: "string", Run: cmdDigest,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "get", Arity: 2, Group: "string", Run: cmdGet,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "getdel", Arity: 2, Group: "string", Run: cmdGetdel,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW access delete"),
	},
	{
		Name: "getex", Arity: -2, Group: "string", Run: cmdGetex,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true, // also with PERSIST, which writes as little
		Keys:  []command.KeySpec{{Flags: "RW access update", Index: 1, Step: 1, Notes: "Writes because it may change the expiry."}},
	},
	{
		Name: "getrange", Arity: 4, Group: "string", Run: cmdGetrange,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "getset", Arity: 3, Group: "string", Run: cmdGetset,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,

		Keys: command.OneKey("RW access update"),
	},
	{
		Name: "incr", Arity: 2, Group: "string", Run: cmdIncr,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "incrby", Arity: 3, Group: "string", Run: cmdIncrby,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "incrbyfloat", Arity: 3, Group: "string", Run: cmdIncrbyfloat,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "increx", Arity: -2, Group: "string", Run: cmdIncrex,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "lcs", Arity: -3, Group: "string", Run: cmdLcs,
		Flags: command.FlagReadonly,
		Keys:  []command.KeySpec{{Flags: "RO access", Index: 1, Last: 1, Step: 1}},
	},
	{
		Name: "mget", Arity: -2, Group: "string", Run: cmdMget,
		Merge: command.MergeArrays,
		Flags: command.FlagReadonly | command.FlagFast,
		Tips:  []string{"request_policy:multi_shard"},
		Keys:  command.AllKeys("RO access"),
	},
	{
		Name: "mset", Arity: -3, Group: "string", Run: cmdMset,
		Merge: command.MergeOK,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Tips:  []string{"request_policy:multi_shard", "response_policy:all_succeeded"},
		Keys:  []command.KeySpec{{Flags: "OW update", Index: 1, Last: -1, Step: 2}},
	},
	{
		Name: "msetex", Arity: -4, Group: "string", Run: cmdMsetex,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Tips:  []string{"request_policy:multi_shard", "response_policy:all_succeeded"},
		Keys:  []command.KeySpec{{Flags: "OW update", Index: 1, Keynum: true, First: 1, Step: 2}},
	},
	{
		Name: "msetnx", Arity: -3, Group: "string", Run: cmdMsetnx,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  []command.KeySpec{{Flags: "OW insert", Index: 1, Last: -1, Step: 2}},
	},
	{
		Name: "psetex", Arity: 4, Quick: true, Group: "string", Run: cmdPsetex,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  command.OneKey("OW update"),
	},
	{
		Name: "set", Arity: -3, Quick: true, Group: "string", Run: cmdSet,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys: []command.KeySpec{{
			Flags: "RW access update variable_flags", Index: 1, Step: 1, Vary: setKeyFlags,
			Notes: "Reads only with `GET` or a condition on the value.",
		}},
	},
	{
		Name: "setex", Arity: 4, Quick: true, Group: "string", Run: cmdSetex,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  command.OneKey("OW update"),
	},
	{
		Name: "setnx", Arity: 3, Group: "string", Run: cmdSetnx,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("OW insert"),
	},
	{
		Name: "setrange", Arity: 4, Group: "string", Run: cmdSetrange,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "strlen", Arity: 2, Group: "string", Run: cmdStrlen,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO"),
	},
	{
		Name: "substr", Arity: 4, Group: "string", Run: cmdSubstr,
		Flags: command.FlagReadonly,

		Keys: command.OneKey("RO access"),
	},
}
