package streams

import "github.com/ringside-kv/ringside/resp/internal/command"

// Commands are the commands on streams.
var Commands = []command.Row{
	{
		Name: "xack", Arity: -4, Group: "stream", Run: cmdXack,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "xackdel", Arity: -6, Group: "stream", Run: cmdXackdel,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW update delete"),
	},
	{
		Name: "xadd", Arity: -5, Group: "stream", Run: cmdXadd,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Tips:  []string{"nondeterministic_output"},
		Keys:  []command.KeySpec{{Flags: "RW update", Notes: "UPDATE rather than INSERT, since it may trim", Index: 1, Step: 1}},
	},
	{
		Name: "xautoclaim", Arity: -6, Group: "stream", Run: cmdXautoclaim,
		Flags: command.FlagWrite | command.FlagFast,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RW delete"),
	},
	{
		Name: "xclaim", Arity: -6, Group: "stream", Run: cmdXclaim,
		Flags: command.FlagWrite | command.FlagFast,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "xdel", Arity: -3, Group: "stream", Run: cmdXdel,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW delete"),
	},
	{
		Name: "xdelex", Arity: -5, Group: "stream", Run: cmdXdelex,
		Flags: command.FlagWrite | command.FlagFast,
		Frees: true,
		Keys:  command.OneKey("RW delete"),
	},
	{
		Name: "xgroup", Arity: -2, Group: "stream",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "create", Arity: -5, Quick: true, Group: "stream", Run: cmdXgroupCreate,
				Flags: command.FlagWrite | command.FlagDenyOOM,
				Keys:  command.SubKey("RW insert"),
			},
			{
				Name: "createconsumer", Arity: 5, Quick: true, Group: "stream", Run: cmdXgroupCreateconsumer,
				Flags: command.FlagWrite | command.FlagDenyOOM,
				Keys:  command.SubKey("RW insert"),
			},
			{
				Name: "delconsumer", Arity: 5, Group: "stream", Run: cmdXgroupDelconsumer,
				Frees: true,
				Flags: command.FlagWrite,
				Keys:  command.SubKey("RW delete"),
			},
			{
				Name: "destroy", Arity: 4, Quick: true, Group: "stream", Run: cmdXgroupDestroy,
				Frees: true,
				Flags: command.FlagWrite,
				Keys:  command.SubKey("RW delete"),
			},
			{
				Name: "help", Arity: 2, Group: "stream", Run: cmdXgroupHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
			{
				Name: "setid", Arity: -5, Quick: true, Group: "stream", Run: cmdXgroupSetid,
				Flags: command.FlagWrite,
				Keys:  command.SubKey("RW update"),
			},
		},
	},
	{
		Name: "xinfo", Arity: -2, Group: "stream",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "consumers", Arity: 4, Group: "stream", Run: cmdXinfoConsumers,
				Flags: command.FlagReadonly,
				Tips:  []string{"nondeterministic_output"},
				Keys:  command.SubKey("RO access"),
			},
			{
				Name: "groups", Arity: 3, Group: "stream", Run: cmdXinfoGroups,
				Flags: command.FlagReadonly,
				Keys:  command.SubKey("RO access"),
			},
			{
				Name: "help", Arity: 2, Group: "stream", Run: cmdXinfoHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
			{
				Name: "stream", Arity: -3, Group: "stream", Run: cmdXinfoStream,
				Flags: command.FlagReadonly,
				Keys:  command.SubKey("RO access"),
			},
		},
	},
	{
		Name: "xlen", Arity: 2, Group: "stream", Run: cmdXlen,
		Flags: command.FlagReadonly | command.FlagFast,
		Keys:  command.OneKey("RO"),
	},
	{
		Name: "xnack", Arity: -7, Group: "stream", Run: cmdXnack,
		Flags: command.FlagWrite | command.FlagFast,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "xpending", Arity: -3, Group: "stream", Run: cmdXpending,
		Flags: command.FlagReadonly,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "xrange", Arity: -4, Group: "stream", Run: cmdXrange,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "xread", Arity: -4, Group: "stream", Run: cmdXread, BlockOption: true,
		Flags: command.FlagReadonly | command.FlagBlocking,
		Keys:  []command.KeySpec{{Flags: "RO access", Keyword: "STREAMS", From: 1, Last: -1, Step: 1, Limit: 2, Find: command.StreamKeys}},
	},
	{
		Name: "xreadgroup", Arity: -7, Group: "stream", Run: cmdXreadgroup, BlockOption: true,
		Flags: command.FlagWrite | command.FlagBlocking,
		Keys:  []command.KeySpec{{Flags: "RO access", Keyword: "STREAMS", From: 4, Last: -1, Step: 1, Limit: 2, Find: command.StreamKeys}},
	},
	{
		Name: "xrevrange", Arity: -4, Group: "stream", Run: cmdXrevrange,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "xsetid", Arity: -3, Group: "stream", Run: cmdXsetid,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagFast,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "xtrim", Arity: -4, Group: "stream", Run: cmdXtrim,
		Flags: command.FlagWrite,
		Frees: true,
		Tips:  []string{"nondeterministic_output"},
		Keys:  command.OneKey("RW delete"),
	},
}
