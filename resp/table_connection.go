package resp

// The commands about the connection itself.
var connectionCommands = []command{
	{
		name: "auth", arity: -2, group: "connection", run: byServer(cmdAuth),
		waits: true,
		flags: flagNoScript | flagLoading | flagStale | flagFast | flagNoAuth | flagAllowBusy,
	},
	{
		name: "client", arity: -2, group: "connection",
		flags: flagContainer,
		subs: append([]*command{
			{
				name: "id", arity: 2, group: "connection", run: byServer(cmdClientId),
				flags: flagNoScript | flagLoading | flagStale,
			},
			{
				name: "info", arity: 2, group: "connection", run: byServer(cmdClientInfo),
				flags: flagNoScript | flagLoading | flagStale,
				tips:  []string{"nondeterministic_output"},
			},
			{
				name: "list", arity: -2, group: "connection", run: byServer(cmdClientList),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
				tips:  []string{"nondeterministic_output"},
			},
			{
				name: "kill", arity: -3, group: "connection", run: byServer(cmdClientKill),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "getname", arity: 2, group: "connection", run: byServer(cmdClientGetname),
				flags: flagNoScript | flagLoading | flagStale,
			},
			{
				name: "setname", arity: 3, group: "connection", run: byServer(cmdClientSetname),
				flags: flagNoScript | flagLoading | flagStale,
			},
			{
				name: "setinfo", arity: 4, group: "connection", run: byServer(cmdClientSetinfo),
				flags: flagNoScript | flagLoading | flagStale,
			},
			{
				name: "pause", arity: -3, group: "connection", run: byServer(cmdClientPause),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "unpause", arity: 2, group: "connection", run: byServer(cmdClientUnpause),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "unblock", arity: -3, group: "connection", run: byServer(cmdClientUnblock),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "reply", arity: 3, group: "connection", run: byServer(cmdClientReply),
				flags: flagNoScript | flagLoading | flagStale,
			},
			{
				name: "no-evict", arity: 3, group: "connection", run: byServer(cmdClientNoEvict),
				flags: flagAdmin | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "help", arity: 2, group: "connection", run: cmdClientHelp,
				flags: flagLoading | flagStale,
			},
		}, trackingCommands...),
	},
	{
		name: "echo", arity: 2, group: "connection", run: byServer(cmdEcho),
		neutral: true,
		flags:   flagLoading | flagStale | flagFast,
	},
	{
		name: "hello", arity: -1, group: "connection", run: byServer(cmdHello),
		waits: true,
		flags: flagNoScript | flagLoading | flagStale | flagFast | flagNoAuth | flagAllowBusy,
	},
	{
		name: "ping", arity: -1, group: "connection", run: byServer(cmdPing),
		neutral: true, whileSubscribed: true,
		flags: flagFast,
		tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		name: "quit", arity: -1, group: "connection", run: byServer(cmdQuit),
		whileSubscribed: true,
		flags:           flagNoScript | flagLoading | flagStale | flagFast | flagNoAuth | flagAllowBusy,
	},
	{
		name: "reset", arity: 1, group: "connection", run: byServer(cmdReset),
		whileSubscribed: true,
		flags:           flagNoScript | flagLoading | flagStale | flagFast | flagNoAuth | flagAllowBusy,
	},
	{
		name: "select", arity: 2, group: "connection", run: byServer(cmdSelect),
		flags: flagLoading | flagStale | flagFast,
	},
}
