package resp

// The commands about tracking.
var trackingCommands = []*command{
	{
		name: "caching", arity: 3, group: "connection", since: "6.0.0", run: cmdClientCaching,
		flags:      flagNoScript | flagLoading | flagStale,
		summary:    "Says whether the next command's keys are tracked, where that is opted in or out.",
		complexity: "O(1)",
		args: []argument{
			{name: "mode", kind: argOneOf, args: tokens("YES", "NO")},
		},
	},
	{
		name: "getredir", arity: 2, group: "connection", since: "6.0.0", run: cmdClientGetredir,
		flags:      flagNoScript | flagLoading | flagStale,
		summary:    "Tells which connection is told of this one's keys.",
		complexity: "O(1)",
	},
	{
		name: "tracking", arity: -3, group: "connection", since: "6.0.0", run: cmdClientTracking,
		flags:      flagNoScript | flagLoading | flagStale,
		summary:    "Has the client told when keys change that it has read.",
		complexity: "O(1)",
		args: []argument{
			{name: "status", kind: argOneOf, args: tokens("ON", "OFF")},
			{name: "client-id", kind: argInteger, token: "REDIRECT", optional: true},
			{name: "prefix", kind: argString, token: "PREFIX", optional: true, multiple: true, multipleToken: true},
			{name: "bcast", kind: argPureToken, token: "BCAST", optional: true},
			{name: "optin", kind: argPureToken, token: "OPTIN", optional: true},
			{name: "optout", kind: argPureToken, token: "OPTOUT", optional: true},
			{name: "noloop", kind: argPureToken, token: "NOLOOP", optional: true},
		},
	},
	{
		name: "trackinginfo", arity: 2, group: "connection", since: "6.2.0", run: cmdClientTrackinginfo,
		flags:      flagNoScript | flagLoading | flagStale,
		summary:    "Tells how the connection is tracked.",
		complexity: "O(1)",
	},
}
