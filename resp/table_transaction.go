package resp

// The commands of transactions.
var transactionCommands = []command{
	{
		name: "discard", arity: 1, group: "transactions", run: byServer(cmdDiscard),
		flags: flagNoScript | flagLoading | flagStale | flagFast | flagAllowBusy,
	},
	{
		name: "exec", arity: 1, group: "transactions", run: byServer(cmdExec),
		waits: true,
		flags: flagNoScript | flagLoading | flagStale | flagSkipSlowlog,
	},
	{
		name: "multi", arity: 1, group: "transactions", run: byServer(cmdMulti),
		flags: flagNoScript | flagLoading | flagStale | flagFast | flagAllowBusy,
	},
	{
		name: "unwatch", arity: 1, group: "transactions", run: byServer(cmdUnwatch),
		flags: flagNoScript | flagLoading | flagStale | flagFast | flagAllowBusy,
	},
	{
		name: "watch", arity: -2, group: "transactions", run: byServer(cmdWatch),
		waits: true, unkeyed: true,
		flags: flagNoScript | flagLoading | flagStale | flagFast | flagAllowBusy,
		keys:  allKeys("RO"),
	},
}
