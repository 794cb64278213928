package admin

import "github.com/ringside-kv/ringside/resp/internal/command"

// FunctionCommands are about functions and modules, of which there are none.
var FunctionCommands = []command.Row{
	{
		Name: "fcall", Arity: -3, Group: "scripting", Refusal: msgNoFunctions,
		Flags: command.FlagNoScript | command.FlagStale | command.FlagSkipMonitor | command.FlagNoMandatoryKeys,
		Keys:  []command.KeySpec{{Flags: "RW access update", Notes: "What the function does is not known", Index: 2, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "fcall_ro", Arity: -3, Group: "scripting", Refusal: msgNoFunctions,
		Flags: command.FlagReadonly | command.FlagNoScript | command.FlagStale | command.FlagSkipMonitor | command.FlagNoMandatoryKeys,
		Keys:  []command.KeySpec{{Flags: "RO access", Notes: "What the function does is not known", Index: 2, Keynum: true, First: 1, Step: 1}},
	},
	{
		Name: "function", Arity: -2, Group: "scripting",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "delete", Arity: 3, Group: "scripting", Run: cmdFunctionDelete,
				Flags: command.FlagWrite | command.FlagNoScript,
				Tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				Name: "dump", Arity: 2, Group: "scripting", Refusal: msgNoFunctions,
				Flags: command.FlagNoScript,
			},
			{
				Name: "flush", Arity: -2, Group: "scripting", Run: cmdFunctionFlush,
				Flags: command.FlagWrite | command.FlagNoScript,
				Tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				Name: "help", Arity: 2, Group: "scripting", Run: functionHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
			{
				Name: "kill", Arity: 2, Group: "scripting", Run: cmdFunctionKill,
				Flags: command.FlagNoScript | command.FlagAllowBusy,
				Tips:  []string{"request_policy:all_shards", "response_policy:one_succeeded"},
			},
			{
				Name: "list", Arity: -2, Group: "scripting", Run: cmdFunctionList,
				Flags: command.FlagNoScript,
				Tips:  []string{"nondeterministic_output_order"},
			},
			{
				Name: "load", Arity: -3, Group: "scripting", Refusal: msgNoFunctions,
				Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagNoScript,
				Tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				Name: "restore", Arity: -3, Group: "scripting", Refusal: msgNoFunctions,
				Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagNoScript,
				Tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				Name: "stats", Arity: 2, Group: "scripting", Run: cmdFunctionStats,
				Flags: command.FlagNoScript | command.FlagAllowBusy,
				Tips:  []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
		},
	},
	{
		Name: "module", Arity: -2, Group: "server",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "help", Arity: 2, Group: "server", Run: moduleHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
			{
				Name: "list", Arity: 2, Group: "server", Run: cmdModuleList,
				Flags: command.FlagAdmin | command.FlagNoScript,
				Tips:  []string{"nondeterministic_output_order"},
			},
			{
				Name: "load", Arity: -3, Group: "server", Refusal: msgNoModules,
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagNoAsyncLoading,
			},
			{
				Name: "loadex", Arity: -3, Group: "server", Refusal: msgNoModules,
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagNoAsyncLoading,
			},
			{
				Name: "unload", Arity: 3, Group: "server", Refusal: msgNoModules,
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagNoAsyncLoading,
			},
		},
	},
}
