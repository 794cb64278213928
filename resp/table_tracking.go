package resp

// The commands about tracking.
var trackingCommands = []*command{
	{
		name: "caching", arity: 3, group: "connection", run: byServer(cmdClientCaching),
		flags: flagNoScript | flagLoading | flagStale,
	},
	{
		name: "getredir", arity: 2, group: "connection", run: byServer(cmdClientGetredir),
		flags: flagNoScript | flagLoading | flagStale,
	},
	{
		name: "tracking", arity: -3, group: "connection", run: byServer(cmdClientTracking),
		flags: flagNoScript | flagLoading | flagStale,
	},
	{
		name: "trackinginfo", arity: 2, group: "connection", run: byServer(cmdClientTrackinginfo),
		flags: flagNoScript | flagLoading | flagStale,
	},
}
