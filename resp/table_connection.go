package resp

// The commands about the connection itself.
var connectionCommands = []command{
	{
		name: "auth", arity: -2, group: "connection", since: "1.0.0", run: cmdAuth,
		flags:      flagNoScript | flagLoading | flagStale | flagFast | flagNoAuth | flagAllowBusy,
		summary:    "Proves who the client is, by a password or by a user name and its password.",
		complexity: "O(N) with N the number of passwords the user has.",
		history:    [][2]string{{"6.0.0", "A user name may precede the password."}},
		args: []argument{
			{name: "username", kind: argString, since: "6.0.0", optional: true},
			{name: "password", kind: argString},
		},
	},
	{
		name: "client", arity: -2, group: "connection", since: "2.4.0",
		flags:      flagContainer,
		summary:    "Groups the commands about client connections.",
		complexity: "Depends on the subcommand.",
		subs: append([]*command{
			{
				name: "id", arity: 2, group: "connection", since: "5.0.0", run: cmdClientId,
				flags:      flagNoScript | flagLoading | flagStale,
				summary:    "Tells the number of this connection.",
				complexity: "O(1)",
			},
			{
				name: "info", arity: 2, group: "connection", since: "6.2.0", run: cmdClientInfo,
				flags:      flagNoScript | flagLoading | flagStale,
				summary:    "Describes this connection in the format of CLIENT LIST.",
				complexity: "O(1)",
				tips:       []string{"nondeterministic_output"},
			},
			{
				name: "list", arity: -2, group: "connection", since: "2.4.0", run: cmdClientList,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Describes the open connections, one to a line.",
				complexity: "O(N) with N the number of connections.",
				tips:       []string{"nondeterministic_output"},
				history: [][2]string{
					{"2.8.12", "Lines begin with the client's `id`."},
					{"5.0.0", "The filter `TYPE`."},
					{"6.0.0", "The field `user`."},
					{"6.2.0", "The fields `argv-mem`, `tot-mem`, `laddr` and `redir`, and the filter `ID`."},
					{"7.0.0", "The fields `resp`, `multi-mem`, `rbs` and `rbp`."},
					{"7.0.3", "The field `ssub`."},
				},
				args: []argument{
					{
						name: "normal_master_replica_pubsub", kind: argOneOf, token: "TYPE", since: "5.0.0", optional: true,
						args: tokens("NORMAL", "MASTER", "REPLICA", "PUBSUB"),
					},
					{name: "id", kind: argBlock, token: "ID", since: "6.2.0", optional: true, args: []argument{
						{name: "client-id", kind: argInteger, multiple: true},
					}},
				},
			},
			{
				name: "kill", arity: -3, group: "connection", since: "2.4.0", run: cmdClientKill,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Closes connections, by address or by filters.",
				complexity: "O(N) with N the number of connections.",
				history: [][2]string{
					{"2.8.12", "Filters instead of a single address."},
					{"2.8.12", "The filter `ID`."},
					{"3.2.0", "The type `master`."},
					{"5.0.0", "The type `replica`; `slave` is still understood."},
					{"6.2.0", "The filter `LADDR`."},
				},
				args: []argument{
					{name: "filter", kind: argOneOf, args: []argument{
						{name: "ip:port", kind: argString, deprecatedSince: "2.8.12"},
						{name: "new-format", kind: argOneOf, multiple: true, args: []argument{
							{name: "client-id", kind: argInteger, token: "ID", since: "2.8.12", optional: true},
							{name: "normal_master_slave_pubsub", kind: argOneOf, token: "TYPE", since: "2.8.12", optional: true, args: []argument{
								{name: "normal", kind: argPureToken, token: "NORMAL"},
								{name: "master", kind: argPureToken, token: "MASTER", since: "3.2.0"},
								{name: "slave", kind: argPureToken, token: "SLAVE"},
								{name: "replica", kind: argPureToken, token: "REPLICA", since: "5.0.0"},
								{name: "pubsub", kind: argPureToken, token: "PUBSUB"},
							}},
							{name: "username", kind: argString, token: "USER", optional: true},
							{name: "ip:port", kind: argString, token: "ADDR", optional: true},
							{name: "ip:port", kind: argString, token: "LADDR", since: "6.2.0", optional: true},
							{name: "yes/no", kind: argString, token: "SKIPME", optional: true},
						}},
					}},
				},
			},
			{
				name: "getname", arity: 2, group: "connection", since: "2.6.9", run: cmdClientGetname,
				flags:      flagNoScript | flagLoading | flagStale,
				summary:    "Tells the name that this connection was given.",
				complexity: "O(1)",
			},
			{
				name: "setname", arity: 3, group: "connection", since: "2.6.9", run: cmdClientSetname,
				flags:      flagNoScript | flagLoading | flagStale,
				summary:    "Gives this connection a name, for CLIENT LIST and for logs.",
				complexity: "O(1)",
				args:       []argument{{name: "connection-name", kind: argString}},
			},
			{
				name: "setinfo", arity: 4, group: "connection", since: "7.2.0", run: cmdClientSetinfo,
				flags:      flagNoScript | flagLoading | flagStale,
				summary:    "Records the client library's name or version with this connection.",
				complexity: "O(1)",
				args: []argument{
					{name: "attr", kind: argOneOf, args: []argument{
						{name: "libname", kind: argString, token: "lib-name"},
						{name: "libver", kind: argString, token: "lib-ver"},
					}},
				},
			},
			{
				name: "pause", arity: -3, group: "connection", since: "2.9.50", run: cmdClientPause,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Holds back the commands of all clients, or only their writes, for a while.",
				complexity: "O(1)",
				history:    [][2]string{{"6.2.0", "The argument `mode`, and with it a pause of writes only."}},
				args: []argument{
					{name: "timeout", kind: argInteger},
					{name: "mode", kind: argOneOf, since: "6.2.0", optional: true, args: tokens("WRITE", "ALL")},
				},
			},
			{
				name: "unpause", arity: 2, group: "connection", since: "6.2.0", run: cmdClientUnpause,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Ends CLIENT PAUSE and lets held-back commands run.",
				complexity: "O(N) with N the number of clients that wait.",
			},
			{
				name: "unblock", arity: -3, group: "connection", since: "5.0.0", run: cmdClientUnblock,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Ends the wait of another client in a blocking command.",
				complexity: "O(log N) with N the number of clients.",
				args: []argument{
					{name: "client-id", kind: argInteger},
					{name: "timeout_error", kind: argOneOf, optional: true, args: tokens("TIMEOUT", "ERROR")},
				},
			},
			{
				name: "reply", arity: 3, group: "connection", since: "3.2.0", run: cmdClientReply,
				flags:      flagNoScript | flagLoading | flagStale,
				summary:    "Switches the replies to this connection on or off, or skips the next one.",
				complexity: "O(1)",
				args:       []argument{{name: "on_off_skip", kind: argOneOf, args: tokens("ON", "OFF", "SKIP")}},
			},
			{
				name: "no-evict", arity: 3, group: "connection", since: "7.0.0", run: cmdClientNoEvict,
				flags:      flagAdmin | flagNoScript | flagLoading | flagStale,
				summary:    "Exempts this connection from being closed when clients use too much memory.",
				complexity: "O(1)",
				args:       []argument{{name: "enabled", kind: argOneOf, args: tokens("ON", "OFF")}},
			},
			{
				name: "help", arity: 2, group: "connection", since: "5.0.0", run: cmdClientHelp,
				flags:      flagLoading | flagStale,
				summary:    "Lists the subcommands, with one line for each.",
				complexity: "O(1)",
			},
		}, trackingCommands...),
	},
	{
		name: "echo", arity: 2, group: "connection", since: "1.0.0", run: cmdEcho,
		flags:      flagLoading | flagStale | flagFast,
		summary:    "Replies with the message it was sent.",
		complexity: "O(1)",
		args:       []argument{{name: "message", kind: argString}},
	},
	{
		name: "hello", arity: -1, group: "connection", since: "6.0.0", run: cmdHello,
		flags:      flagNoScript | flagLoading | flagStale | flagFast | flagNoAuth | flagAllowBusy,
		summary:    "Chooses the protocol version, optionally authenticates and names the connection, and describes the server.",
		complexity: "O(1)",
		history:    [][2]string{{"6.2.0", "The version may be left out; the reply then only describes the connection."}},
		args: []argument{
			{name: "arguments", kind: argBlock, optional: true, args: []argument{
				{name: "protover", kind: argInteger},
				{name: "username_password", kind: argBlock, token: "AUTH", optional: true, args: []argument{
					{name: "username", kind: argString},
					{name: "password", kind: argString},
				}},
				{name: "clientname", kind: argString, token: "SETNAME", optional: true},
			}},
		},
	},
	{
		name: "ping", arity: -1, group: "connection", since: "1.0.0", run: cmdPing,
		flags:      flagFast,
		summary:    "Replies PONG, or with the given message, to show that the server is there.",
		complexity: "O(1)",
		tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
		args:       []argument{{name: "message", kind: argString, optional: true}},
	},
	{
		name: "quit", arity: -1, group: "connection", since: "1.0.0", run: cmdQuit,
		flags:      flagNoScript | flagLoading | flagStale | flagFast | flagNoAuth | flagAllowBusy,
		summary:    "Replies OK and closes the connection.",
		complexity: "O(1)",
	},
	{
		name: "reset", arity: 1, group: "connection", since: "6.2.0", run: cmdReset,
		flags:      flagNoScript | flagLoading | flagStale | flagFast | flagNoAuth | flagAllowBusy,
		summary:    "Puts the connection back into the state of a fresh one.",
		complexity: "O(1)",
	},
	{
		name: "select", arity: 2, group: "connection", since: "1.0.0", run: cmdSelect,
		flags:      flagLoading | flagStale | flagFast,
		summary:    "Picks the database that later commands of this connection work on.",
		complexity: "O(1)",
		args:       []argument{{name: "index", kind: argInteger}},
	},
}
