package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// The commands about the connection itself.
var connectionCommands = []command.Row{
	{
		Name: "auth", Arity: -2, Group: "connection", Run: byServer(cmdAuth), Hide: command.HidePassword,
		Waits: true,
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagNoAuth | command.FlagAllowBusy,
	},
	{
		Name: "client", Arity: -2, Group: "connection", AboutClients: true,
		Flags: command.FlagContainer,
		Subs: append([]*command.Row{
			{
				Name: "id", Arity: 2, Group: "connection", Run: byServer(cmdClientId),
				Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "info", Arity: 2, Group: "connection", Run: byServer(cmdClientInfo),
				Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"nondeterministic_output"},
			},
			{
				Name: "list", Arity: -2, Group: "connection", Run: byServer(cmdClientList),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"nondeterministic_output"},
			},
			{
				Name: "kill", Arity: -3, Group: "connection", Run: byServer(cmdClientKill),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "getname", Arity: 2, Group: "connection", Run: byServer(cmdClientGetname),
				Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "setname", Arity: 3, Group: "connection", Run: byServer(cmdClientSetname),
				Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "setinfo", Arity: 4, Group: "connection", Run: byServer(cmdClientSetinfo),
				Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "pause", Arity: -3, Group: "connection", Run: byServer(cmdClientPause),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "unpause", Arity: 2, Group: "connection", Run: byServer(cmdClientUnpause),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "unblock", Arity: -3, Group: "connection", Run: byServer(cmdClientUnblock),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "reply", Arity: 3, Group: "connection", Run: byServer(cmdClientReply),
				Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "no-evict", Arity: 3, Group: "connection", Run: byServer(cmdClientNoEvict),
				Flags: command.FlagAdmin | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "no-touch", Arity: 3, Group: "connection", Run: byServer(cmdClientNoTouch),
				Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "maint_notifications", Arity: -3, Group: "connection", Run: byServer(cmdClientMaintNotifications),
				Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "help", Arity: 2, Group: "connection", Run: admin.ClientHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
		}, trackingCommands...),
	},
	{
		Name: "echo", Arity: 2, Group: "connection", Run: byServer(cmdEcho),
		Neutral: true,
		Flags:   command.FlagLoading | command.FlagStale | command.FlagFast,
	},
	{
		Name: "hello", Arity: -1, Group: "connection", Run: byServer(cmdHello), Hide: command.HideHello,
		Waits: true, SetsProtocol: true,
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagNoAuth | command.FlagAllowBusy,
	},
	{
		Name: "ping", Arity: -1, Group: "connection", Run: byServer(cmdPing),
		Neutral: true, WhileSubscribed: true, TellsSubscribed: true,
		Flags: command.FlagFast,
		Tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "quit", Arity: -1, Group: "connection", Run: byServer(cmdQuit),
		WhileSubscribed: true, InMulti: command.MultiRuns,
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagNoAuth | command.FlagAllowBusy,
	},
	{
		Name: "reset", Arity: 1, Group: "connection", Run: byServer(cmdReset),
		WhileSubscribed: true, InMulti: command.MultiRuns,
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagNoAuth | command.FlagAllowBusy,
	},
}
