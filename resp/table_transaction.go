package resp

// The commands of transactions.
var transactionCommands = []command{
	{
		name: "discard", arity: 1, group: "transactions", since: "2.0.0", run: cmdDiscard,
		flags:      flagNoScript | flagLoading | flagStale | flagFast | flagAllowBusy,
		summary:    "Drops the commands queued since MULTI and what is watched.",
		complexity: "O(N) with N the number of queued commands.",
	},
	{
		name: "exec", arity: 1, group: "transactions", since: "1.2.0", run: cmdExec,
		flags:      flagNoScript | flagLoading | flagStale | flagSkipSlowlog,
		summary:    "Runs the commands queued since MULTI as one, unless a watched key has changed.",
		complexity: "That of the commands.",
	},
	{
		name: "multi", arity: 1, group: "transactions", since: "1.2.0", run: cmdMulti,
		flags:      flagNoScript | flagLoading | flagStale | flagFast | flagAllowBusy,
		summary:    "Begins a transaction: what follows is queued until EXEC.",
		complexity: "O(1)",
	},
	{
		name: "unwatch", arity: 1, group: "transactions", since: "2.2.0", run: cmdUnwatch,
		flags:      flagNoScript | flagLoading | flagStale | flagFast | flagAllowBusy,
		summary:    "Forgets all watched keys.",
		complexity: "O(1)",
	},
	{
		name: "watch", arity: -2, group: "transactions", since: "2.2.0", run: cmdWatch,
		flags:      flagNoScript | flagLoading | flagStale | flagFast | flagAllowBusy,
		summary:    "Has the next EXEC do nothing if one of the keys changes before it.",
		complexity: "O(1) for each key.",
		keys:       allKeys("RO"),
		args:       []argument{keysArg},
	},
}
