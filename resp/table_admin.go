package resp

// Commands for those who run a Redis: databases, snapshots, replication.
var adminCommands = []command{
	{
		name: "bgrewriteaof", arity: 1, group: "server", run: byServer(cmdBgrewriteaof),
		flags: flagAdmin | flagNoScript | flagNoAsyncLoading,
	},
	{
		name: "bgsave", arity: -1, group: "server", run: byServer(cmdBgsave),
		flags: flagAdmin | flagNoScript | flagNoAsyncLoading,
	},
	{
		name: "failover", arity: -1, group: "server", refusal: msgNoFailover,
		flags: flagAdmin | flagNoScript | flagStale,
	},
	{
		name: "lolwut", arity: -1, group: "server", run: byServer(cmdLolwut),
		flags: flagReadonly | flagFast,
	},
	{
		name: "migrate", arity: -6, group: "generic", refusal: msgNoMigrate,
		flags: flagWrite | flagDangerous,
		tips:  []string{"nondeterministic_output"},
		keys:  []keySpec{{flags: "RW access delete", index: 3, step: 1}, {flags: "RW access delete incomplete", keyword: "KEYS", from: -2, last: -1, step: 1}},
	},
	{
		name: "move", arity: 3, group: "generic", run: byServer(cmdMove),
		flags: flagWrite | flagFast,
		keys:  []keySpec{{flags: "RW access update", index: 1, step: 1}},
	},
	{
		name: "psync", arity: -3, group: "server", refusal: msgNoReplication,
		flags: flagAdmin | flagNoScript | flagNoAsyncLoading | flagNoMulti,
	},
	{
		name: "replconf", arity: -1, group: "server", refusal: msgNoReplication,
		flags: flagAdmin | flagNoScript | flagLoading | flagStale | flagAllowBusy | flagSystem,
	},
	{
		name: "replicaof", arity: 3, group: "server", run: byServer(cmdReplicaof),
		flags: flagAdmin | flagNoScript | flagStale | flagNoAsyncLoading,
	},
	{
		name: "restore-asking", arity: -4, group: "server", run: cmdRestore,
		flags: flagWrite | flagDenyOOM | flagAsking | flagKeyspace | flagDangerous | flagSystem,
		keys:  []keySpec{{flags: "OW update", index: 1, step: 1}},
	},
	{
		name: "role", arity: 1, group: "server", run: byServer(cmdRole),
		flags: flagNoScript | flagLoading | flagStale | flagFast | flagAsAdmin,
	},
	{
		name: "save", arity: 1, group: "server", run: byServer(cmdSave),
		flags: flagAdmin | flagNoScript | flagNoAsyncLoading | flagNoMulti,
	},
	{
		name: "slaveof", arity: 3, group: "server", run: byServer(cmdReplicaof),
		flags: flagAdmin | flagNoScript | flagStale | flagNoAsyncLoading,
	},
	{
		name: "swapdb", arity: 3, group: "server", run: byServer(cmdSwapdb),
		flags: flagWrite | flagFast | flagKeyspace | flagDangerous,
	},
	{
		name: "sync", arity: 1, group: "server", refusal: msgNoReplication,
		flags: flagAdmin | flagNoScript | flagNoAsyncLoading | flagNoMulti,
	},
}
