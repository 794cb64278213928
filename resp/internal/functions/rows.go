package functions

import "github.com/ringside-kv/ringside/resp/internal/command"

// Commands are FUNCTION and its subcommands.
var Commands = []command.Row{
	{
		Name: "function", Arity: -2, Group: "scripting",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "delete", Arity: 3, Group: "scripting", Run: on(cmdDelete),
				Flags: command.FlagWrite | command.FlagNoScript,
				Frees: true,
				Tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				Name: "dump", Arity: 2, Group: "scripting", Run: on(cmdDump),
				Flags: command.FlagNoScript,
			},
			{
				Name: "flush", Arity: -2, Group: "scripting", Run: on(cmdFlush),
				Flags: command.FlagWrite | command.FlagNoScript,
				Frees: true,
				Tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				Name: "help", Arity: 2, Group: "scripting", Run: cmdHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
			{
				Name: "kill", Arity: 2, Group: "scripting", Run: on(cmdKill),
				Flags: command.FlagNoScript | command.FlagAllowBusy,
				Tips:  []string{"request_policy:all_shards", "response_policy:one_succeeded"},
			},
			{
				Name: "list", Arity: -2, Group: "scripting", Run: on(cmdList),
				Flags: command.FlagNoScript,
				Tips:  []string{"nondeterministic_output_order"},
			},
			{
				Name: "load", Arity: -3, Group: "scripting", Run: on(cmdLoad),
				Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagNoScript,
				Tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				Name: "restore", Arity: -3, Group: "scripting", Run: on(cmdRestore),
				Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagNoScript,
				Tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				Name: "stats", Arity: 2, Group: "scripting", Run: on(cmdStats),
				Flags: command.FlagNoScript | command.FlagAllowBusy,
				Tips:  []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
		},
	},
}
