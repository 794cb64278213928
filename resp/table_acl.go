package resp

// The commands about users.
var aclCommands = []command{
	{
		name: "acl", arity: -2, group: "server",
		flags: flagContainer,
		subs: []*command{
			{
				name: "cat", arity: -2, group: "server", run: byServer(cmdAclCat),
				flags: flagNoScript | flagLoading | flagStale,
			},
			{
				name: "deluser", arity: -3, group: "server", refusal: msgOneUser,
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "dryrun", arity: -4, group: "server", run: byServer(cmdAclDryrun),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "genpass", arity: -2, group: "server", run: byServer(cmdAclGenpass),
				flags: flagNoScript | flagLoading | flagStale,
			},
			{
				name: "getuser", arity: 3, group: "server", run: byServer(cmdAclGetuser),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "help", arity: 2, group: "server", run: cmdAclHelp,
				flags: flagLoading | flagStale,
			},
			{
				name: "list", arity: 2, group: "server", run: byServer(cmdAclList),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "load", arity: 2, group: "server", refusal: msgOneUser,
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "log", arity: -2, group: "server", run: byServer(cmdAclLog),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "save", arity: 2, group: "server", refusal: msgOneUser,
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "setuser", arity: -3, group: "server", refusal: msgOneUser,
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "users", arity: 2, group: "server", run: byServer(cmdAclUsers),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "whoami", arity: 2, group: "server", run: byServer(cmdAclWhoami),
				flags: flagNoScript | flagLoading | flagStale,
			},
		},
	},
}
