package admin

import "github.com/ringside-kv/ringside/resp/internal/command"

// ACLCommands are about users.
var ACLCommands = []command.Row{
	{
		Name: "acl", Arity: -2, Group: "server",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "cat", Arity: -2, Group: "server", Run: on(cmdAclCat),
				Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "deluser", Arity: -3, Group: "server", Waits: true, Run: on(cmdAclDeluser), Hide: hideUser,
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "dryrun", Arity: -4, Group: "server", Run: on(cmdAclDryrun),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "genpass", Arity: -2, Group: "server", Run: on(cmdAclGenpass),
				Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "getuser", Arity: 3, Group: "server", Run: on(cmdAclGetuser), Hide: hideUser,
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "help", Arity: 2, Group: "server", Run: cmdAclHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
			{
				Name: "list", Arity: 2, Group: "server", Run: on(cmdAclList),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "load", Arity: 2, Group: "server", Waits: true, Run: on(cmdAclLoad),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "log", Arity: -2, Group: "server", Run: on(cmdAclLog),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "save", Arity: 2, Group: "server", Run: on(cmdAclSave),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "setuser", Arity: -3, Group: "server", Waits: true, Run: on(cmdAclSetuser), Hide: hideUser,
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "users", Arity: 2, Group: "server", Run: on(cmdAclUsers),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "whoami", Arity: 2, Group: "server", Run: on(cmdAclWhoami),
				Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
		},
	},
}
