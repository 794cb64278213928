package resp

// The commands about users.
var aclCommands = []command{
	{
		name: "acl", arity: -2, group: "server", since: "6.0.0",
		flags:      flagContainer,
		summary:    "Groups the commands about users and what they may do.",
		complexity: "Depends on the subcommand.",
		subs: []*command{
			{
				name: "cat", arity: -2, group: "server", since: "6.0.0", run: cmdAclCat,
				flags:      flagNoScript | flagLoading | flagStale,
				summary:    "Lists the categories of commands, or the commands of one.",
				complexity: "O(N) with N the number of names listed.",
				args: []argument{
					{name: "categoryname", kind: argString, optional: true},
				},
			},
			{
				name: "deluser", arity: -3, group: "server", since: "6.0.0", refusal: msgOneUser,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Deletes users; refused, since there is one only.",
				complexity: "O(1)",
				args: []argument{
					{name: "username", kind: argString, multiple: true},
				},
			},
			{
				name: "dryrun", arity: -4, group: "server", since: "7.0.0", run: cmdAclDryrun,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Tells whether a user may run a command, without running it.",
				complexity: "O(1)",
				args: []argument{
					{name: "username", kind: argString},
					{name: "command", kind: argString},
					{name: "arg", kind: argString, optional: true, multiple: true},
				},
			},
			{
				name: "genpass", arity: -2, group: "server", since: "6.0.0", run: cmdAclGenpass,
				flags:      flagNoScript | flagLoading | flagStale,
				summary:    "Returns random digits for a password.",
				complexity: "O(1)",
				args: []argument{
					{name: "bits", kind: argInteger, optional: true},
				},
			},
			{
				name: "getuser", arity: 3, group: "server", since: "6.0.0", run: cmdAclGetuser,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Describes a user.",
				complexity: "O(1)",
				history:    [][2]string{{"6.2.0", "With patterns of channels."}, {"7.0.0", "With selectors, and patterns as they are in rules."}},
				args: []argument{
					{name: "username", kind: argString},
				},
			},
			{
				name: "help", arity: 2, group: "server", since: "6.0.0", run: cmdAclHelp,
				flags:      flagLoading | flagStale,
				summary:    "Lists the subcommands, with one line for each.",
				complexity: "O(1)",
			},
			{
				name: "list", arity: 2, group: "server", since: "6.0.0", run: cmdAclList,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Lists the users with their rules.",
				complexity: "O(N) with N the number of users.",
			},
			{
				name: "load", arity: 2, group: "server", since: "6.0.0", refusal: msgOneUser,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Reads users from a file; refused, since there is none.",
				complexity: "O(1)",
			},
			{
				name: "log", arity: -2, group: "server", since: "6.0.0", run: cmdAclLog,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Lists what users were not allowed to do; forgets it with RESET.",
				complexity: "O(1)",
				args: []argument{
					{name: "operation", kind: argOneOf, optional: true, args: []argument{
						{name: "count", kind: argInteger},
						{name: "reset", kind: argPureToken, token: "RESET"},
					}},
				},
			},
			{
				name: "save", arity: 2, group: "server", since: "6.0.0", refusal: msgOneUser,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Writes users to a file; refused, since there is none.",
				complexity: "O(1)",
			},
			{
				name: "setuser", arity: -3, group: "server", since: "6.0.0", refusal: msgOneUser,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Changes a user; refused, since there is one only.",
				complexity: "O(1)",
				history:    [][2]string{{"6.2.0", "With patterns of channels."}, {"7.0.0", "With selectors, and permissions by key."}},
				args: []argument{
					{name: "username", kind: argString},
					{name: "rule", kind: argString, optional: true, multiple: true},
				},
			},
			{
				name: "users", arity: 2, group: "server", since: "6.0.0", run: cmdAclUsers,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Lists the names of the users.",
				complexity: "O(N) with N the number of users.",
			},
			{
				name: "whoami", arity: 2, group: "server", since: "6.0.0", run: cmdAclWhoami,
				flags:      flagNoScript | flagLoading | flagStale,
				summary:    "Names the user of this connection.",
				complexity: "O(1)",
			},
		},
	},
}
