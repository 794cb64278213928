package admin

import "github.com/ringside-kv/ringside/resp/internal/command"

// ModuleCommands are about modules, of which there are none.
var ModuleCommands = []command.Row{
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
