package resp

import "github.com/ringside-kv/ringside/resp/internal/command"

// The commands about tracking.
var trackingCommands = []*command.Row{
	{
		Name: "caching", Arity: 3, Group: "connection", Run: byServer(cmdClientCaching), CutsMulti: true,
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
	},
	{
		Name: "getredir", Arity: 2, Group: "connection", Run: byServer(cmdClientGetredir),
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
	},
	{
		Name: "tracking", Arity: -3, Group: "connection", Run: byServer(cmdClientTracking), CutsMulti: true,
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
	},
	{
		Name: "trackinginfo", Arity: 2, Group: "connection", Run: byServer(cmdClientTrackinginfo),
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale,
	},
}
