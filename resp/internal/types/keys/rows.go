package keys

import "github.com/ringside-kv/ringside/resp/internal/command"

// Commands are the commands on keys with values of any type.
var Commands = []command.Row{
	{
		Name: "copy", Arity: -3, Group: "generic", Run: cmdCopy, OtherDatabase: databaseOfCopy,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys: []command.KeySpec{
			{Flags: "RO access", Index: 1, Step: 1},
			{Flags: "OW update", Index: 2, Step: 1},
		},
	},
	{
		Name: "del", Arity: -2, Quick: true, Group: "generic", Run: cmdDel,
		Merge: command.MergeCounts,
		Flags: command.FlagWrite,
		Frees: true,
		Tips:  []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		Keys:  command.AllKeys("RM delete"),
	},
	{
		Name: "dump", Arity: 2, Group: "generic", Run: cmdDump,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "exists", Arity: -2, Group: "generic", Run: cmdExists,
		Merge: command.MergeCounts,
		Flags: command.FlagReadonly | command.FlagFast,
		Tips:  []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		Keys:  command.AllKeys("RO"),
	},
	{
		Name: "expire", Arity: -3, Group: "generic", Run: cmdExpire,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "expireat", Arity: -3, Group: "generic", Run: cmdExpireat,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "expiretime", Arity: 2, Group: "generic", Run: cmdExpiretime,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "object", Arity: -2, Group: "generic", NoMissEvent: true,
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "encoding", Arity: 3, Quick: true, Group: "generic", Run: cmdObjectEncoding,
				Flags: command.FlagReadonly,
				Tips:  []string{"nondeterministic_output"},
				Keys:  command.SubKey("RO"),
			},
			{
				Name: "freq", Arity: 3, Quick: true, Group: "generic", Run: cmdObjectFreq,
				Flags: command.FlagReadonly,
				Tips:  []string{"nondeterministic_output"},
				Keys:  command.SubKey("RO"),
			},
			{
				Name: "idletime", Arity: 3, Quick: true, Group: "generic", Run: cmdObjectIdletime,
				Flags: command.FlagReadonly,
				Tips:  []string{"nondeterministic_output"},
				Keys:  command.SubKey("RO"),
			},
			{
				Name: "refcount", Arity: 3, Quick: true, Group: "generic", Run: cmdObjectRefcount,
				Flags: command.FlagReadonly,
				Tips:  []string{"nondeterministic_output"},
				Keys:  command.SubKey("RO"),
			},
			{
				Name: "help", Arity: 2, Group: "generic", Run: cmdObjectHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
		},
	},
	{
		Name: "persist", Arity: 2, Group: "generic", Run: cmdPersist,
		Flags: command.FlagWrite | command.FlagFast,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "pexpire", Arity: -3, Group: "generic", Run: cmdPexpire,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "pexpireat", Arity: -3, Group: "generic", Run: cmdPexpireat,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "pexpiretime", Arity: 2, Group: "generic", Run: cmdPexpiretime,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "pttl", Arity: 2, Group: "generic", Run: cmdPttl,
		Flags: command.FlagReadonly | command.FlagFast,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "rename", Arity: 3, Quick: true, Group: "generic", Run: cmdRename,
		Flags: command.FlagWrite,
		Keys: []command.KeySpec{
			{Flags: "RW access delete", Index: 1, Step: 1},
			{Flags: "OW update", Index: 2, Step: 1},
		},
	},
	{
		Name: "renamenx", Arity: 3, Group: "generic", Run: cmdRenamenx,
		Flags: command.FlagWrite | command.FlagFast,
		Keys: []command.KeySpec{
			{Flags: "RW access delete", Index: 1, Step: 1},
			{Flags: "OW insert", Index: 2, Step: 1},
		},
	},
	{
		Name: "restore", Arity: -4, Group: "generic", Run: Restore,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagDangerous,
		Keys:  command.OneKey("OW update"),
	},
	{
		Name: "touch", Arity: -2, Group: "generic", Run: cmdTouch,
		Merge: command.MergeCounts,
		Flags: command.FlagReadonly | command.FlagFast,
		Tips:  []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		Keys:  command.AllKeys("RO"),
	},
	{
		Name: "ttl", Arity: 2, Group: "generic", Run: cmdTtl,
		Flags: command.FlagReadonly | command.FlagFast,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "type", Arity: 2, Group: "generic", Run: cmdType,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO"),
	},
	{
		Name: "unlink", Arity: -2, Group: "generic", Run: cmdUnlink,
		Merge: command.MergeCounts,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Tips:  []string{"request_policy:multi_shard", "response_policy:agg_sum"},
		Keys:  command.AllKeys("RM delete"),
	},
}
