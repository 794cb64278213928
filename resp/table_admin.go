package resp

// Commands for those who run a Redis: databases, snapshots, replication.
var adminCommands = []command{
	{
		name: "bgrewriteaof", arity: 1, group: "server", since: "1.0.0", run: cmdBgrewriteaof,
		flags:      flagAdmin | flagNoScript | flagNoAsyncLoading,
		summary:    "Does nothing, since the store compacts itself all the time.",
		complexity: "O(1)",
	},
	{
		name: "bgsave", arity: -1, group: "server", since: "1.0.0", run: cmdBgsave,
		flags:      flagAdmin | flagNoScript | flagNoAsyncLoading,
		summary:    "Has all that was written on stable storage.",
		complexity: "O(N) with N what was written since the last time.",
		history:    [][2]string{{"3.2.2", "The option `SCHEDULE`."}},
		args: []argument{
			{name: "schedule", kind: argPureToken, token: "SCHEDULE", since: "3.2.2", optional: true},
		},
	},
	{
		name: "failover", arity: -1, group: "server", since: "6.2.0", refusal: msgNoFailover,
		flags:      flagAdmin | flagNoScript | flagStale,
		summary:    "Has a replica take over; refused.",
		complexity: "O(1)",
		args: []argument{
			{name: "target", kind: argBlock, token: "TO", optional: true, args: []argument{
				{name: "host", kind: argString},
				{name: "port", kind: argInteger},
				{name: "force", kind: argPureToken, token: "FORCE", optional: true},
			}},
			{name: "abort", kind: argPureToken, token: "ABORT", optional: true},
			{name: "milliseconds", kind: argInteger, token: "TIMEOUT", optional: true},
		},
	},
	{
		name: "lolwut", arity: -1, group: "server", since: "5.0.0", run: cmdLolwut,
		flags:   flagReadonly | flagFast,
		summary: "Draws something, and names the version.",
		args: []argument{
			{name: "version", kind: argInteger, token: "VERSION", optional: true},
		},
	},
	{
		name: "migrate", arity: -6, group: "generic", since: "2.6.0", refusal: msgNoMigrate,
		flags:      flagWrite | flagDangerous,
		summary:    "Moves keys to another server; refused.",
		complexity: "O(1)",
		tips:       []string{"nondeterministic_output"},
		history:    [][2]string{{"3.0.0", "The options `COPY` and `REPLACE`."}, {"3.0.6", "The option `KEYS`."}, {"4.0.7", "The option `AUTH`."}, {"6.0.0", "The option `AUTH2`."}},
		keys:       []keySpec{{flags: "RW access delete", index: 3, step: 1}, {flags: "RW access delete incomplete", keyword: "KEYS", from: -2, last: -1, step: 1}},
		args: []argument{
			{name: "host", kind: argString},
			{name: "port", kind: argInteger},
			{name: "key_or_empty_string", kind: argOneOf, args: []argument{
				keyArg,
				{name: "empty_string", kind: argPureToken, token: ""},
			}},
			{name: "destination-db", kind: argInteger},
			{name: "timeout", kind: argInteger},
			{name: "copy", kind: argPureToken, token: "COPY", since: "3.0.0", optional: true},
			{name: "replace", kind: argPureToken, token: "REPLACE", since: "3.0.0", optional: true},
			{name: "authentication", kind: argOneOf, optional: true, args: []argument{
				{name: "password", kind: argString, token: "AUTH", since: "4.0.7", optional: true},
				{name: "username_password", kind: argBlock, token: "AUTH2", since: "6.0.0", optional: true, args: []argument{
					{name: "username", kind: argString},
					{name: "password", kind: argString},
				}},
			}},
			{name: "key", kind: argKey, token: "KEYS", since: "3.0.6", keySpec: 2, optional: true, multiple: true},
		},
	},
	{
		name: "move", arity: 3, group: "generic", since: "1.0.0", run: cmdMove,
		flags:      flagWrite | flagFast,
		summary:    "Moves a key to another database, of which there is none.",
		complexity: "O(1)",
		keys:       []keySpec{{flags: "RW access update", index: 1, step: 1}},
		args: []argument{
			keyArg,
			{name: "db", kind: argInteger},
		},
	},
	{
		name: "psync", arity: -3, group: "server", since: "2.8.0", refusal: msgNoReplication,
		flags:   flagAdmin | flagNoScript | flagNoAsyncLoading | flagNoMulti,
		summary: "Replicates a Redis; refused.",
		args: []argument{
			{name: "replicationid", kind: argString},
			{name: "offset", kind: argInteger},
		},
	},
	{
		name: "replconf", arity: -1, group: "server", since: "3.0.0", refusal: msgNoReplication,
		flags:      flagAdmin | flagNoScript | flagLoading | flagStale | flagAllowBusy | flagSystem,
		summary:    "Replicates a Redis; refused.",
		complexity: "O(1)",
	},
	{
		name: "replicaof", arity: 3, group: "server", since: "5.0.0", run: cmdReplicaof,
		flags:      flagAdmin | flagNoScript | flagStale | flagNoAsyncLoading,
		summary:    "Makes the server a copy of another; refused but for NO ONE.",
		complexity: "O(1)",
		args: []argument{
			{name: "args", kind: argOneOf, args: []argument{
				{name: "host-port", kind: argBlock, args: []argument{
					{name: "host", kind: argString},
					{name: "port", kind: argInteger},
				}},
				{name: "no-one", kind: argBlock, args: tokens("NO", "ONE")},
			}},
		},
	},
	{
		name: "restore-asking", arity: -4, group: "server", since: "3.0.0", run: cmdRestore,
		flags:      flagWrite | flagDenyOOM | flagAsking | flagKeyspace | flagDangerous | flagSystem,
		summary:    "Makes a key from what DUMP returned, for migrations of a cluster.",
		complexity: "O(N) with N the size of the value.",
		history:    [][2]string{{"3.0.0", "The option `REPLACE`."}, {"5.0.0", "The option `ABSTTL`."}, {"5.0.0", "The options `IDLETIME` and `FREQ`."}},
		keys:       []keySpec{{flags: "OW update", index: 1, step: 1}},
		args: []argument{
			keyArg,
			{name: "ttl", kind: argInteger},
			{name: "serialized-value", kind: argString},
			{name: "replace", kind: argPureToken, token: "REPLACE", since: "3.0.0", optional: true},
			{name: "absttl", kind: argPureToken, token: "ABSTTL", since: "5.0.0", optional: true},
			{name: "seconds", kind: argInteger, token: "IDLETIME", since: "5.0.0", optional: true},
			{name: "frequency", kind: argInteger, token: "FREQ", since: "5.0.0", optional: true},
		},
	},
	{
		name: "role", arity: 1, group: "server", since: "2.8.12", run: cmdRole,
		flags:      flagNoScript | flagLoading | flagStale | flagFast | flagAsAdmin,
		summary:    "Tells what the server is in a replication: always a primary.",
		complexity: "O(1)",
	},
	{
		name: "save", arity: 1, group: "server", since: "1.0.0", run: cmdSave,
		flags:      flagAdmin | flagNoScript | flagNoAsyncLoading | flagNoMulti,
		summary:    "Has all that was written on stable storage.",
		complexity: "O(N) with N what was written since the last time.",
	},
	{
		name: "slaveof", arity: 3, group: "server", since: "1.0.0", run: cmdReplicaof,
		flags:           flagAdmin | flagNoScript | flagStale | flagNoAsyncLoading,
		summary:         "Makes the server a copy of another; refused but for NO ONE.",
		complexity:      "O(1)",
		deprecatedSince: "5.0.0",
		replacedBy:      "`REPLICAOF`",
		args: []argument{
			{name: "args", kind: argOneOf, args: []argument{
				{name: "host-port", kind: argBlock, args: []argument{
					{name: "host", kind: argString},
					{name: "port", kind: argInteger},
				}},
				{name: "no-one", kind: argBlock, args: tokens("NO", "ONE")},
			}},
		},
	},
	{
		name: "swapdb", arity: 3, group: "server", since: "4.0.0", run: cmdSwapdb,
		flags:      flagWrite | flagFast | flagKeyspace | flagDangerous,
		summary:    "Swaps two databases, of which there is one.",
		complexity: "O(1)",
		args: []argument{
			{name: "index1", kind: argInteger},
			{name: "index2", kind: argInteger},
		},
	},
	{
		name: "sync", arity: 1, group: "server", since: "1.0.0", refusal: msgNoReplication,
		flags:   flagAdmin | flagNoScript | flagNoAsyncLoading | flagNoMulti,
		summary: "Replicates a Redis; refused.",
	},
}
