package resp

// The commands that Redis does not have: who has what, and orders to the cluster.
var ringCommands = []command{
	{
		name: "hashmask", arity: -1, group: "cluster", since: "7.0.0", run: cmdHashmask,
		flags:      flagLoading | flagStale,
		summary:    "Lists the buckets with primary, backups and epoch (strategy buckets).",
		complexity: "O(N) with N the number of buckets.",
		subs: []*command{
			{
				name: "subscribe", arity: 2, group: "cluster", since: "7.0.0", run: cmdHashmaskSubscribe,
				flags:      flagPubSub | flagNoScript | flagLoading | flagStale,
				summary:    "Pushes every change of the placement to this connection.",
				complexity: "O(1)",
			},
			{
				name: "help", arity: 2, group: "cluster", since: "7.0.0", run: cmdHashmaskHelp,
				flags:      flagLoading | flagStale,
				summary:    "Lists the subcommands, with one line for each.",
				complexity: "O(1)",
			},
		},
	},
	{
		name: "loadlevels", arity: 1, group: "cluster", since: "7.0.0", run: cmdLoadlevels,
		flags:      flagLoading | flagStale,
		summary:    "Returns how many ranges this node serves, backs up, and moves.",
		complexity: "O(N) with N the number of ranges.",
	},
	{
		name: "ring", arity: -2, group: "cluster", since: "7.0.0",
		flags:      flagContainer,
		summary:    "A container for commands about the placement and the cluster.",
		complexity: "Depends on the subcommand.",
		subs: []*command{
			ringQuery("ack", -2, cmdRingAck, "Sets which nodes must have a write of this connection before its reply is sent.",
				argument{name: "mode", kind: argOneOf, optional: true, args: tokens("PRIMARY", "IN-SYNC")}),
			ringQuery("info", 2, cmdRingInfo, "Returns statistics of this node and of the requests that it forwarded."),
			ringQuery("locate", 3, cmdRingLocate, "Returns the token of a key and the nodes that have it.",
				argument{name: "key", kind: argString}),
			ringQuery("nodes", 2, cmdRingNodes, "Lists the nodes with their addresses for clients."),
			ringQuery("placement", -2, cmdRingPlacement, "Returns the ranges and their nodes, in binary form or as text.",
				argument{name: "text", kind: argPureToken, token: "TEXT", optional: true}),
			ringQuery("status", -2, cmdRingStatus, "Shows the state of the cluster: nodes, handoffs, and the nodes of each range.",
				argument{name: "json", kind: argPureToken, token: "JSON", optional: true}),
			ringQuery("route", -2, cmdRingRoute, "Sets the reply of this connection for keys of other nodes: the answer or MOVED.",
				argument{name: "mode", kind: argOneOf, optional: true, args: tokens("FORWARD", "REDIRECT")}),
			{
				name: "part", arity: -5, group: "cluster", since: "7.0.0", run: cmdRingPart,
				flags:      flagNoScript | flagStale | flagAdmin | flagSystem,
				summary:    "Internal: runs this node's part of a command that covers the cluster.",
				complexity: "Depends on the command.",
				args: []argument{
					{name: "digest", kind: argString},
					{name: "spans", kind: argString},
					{name: "command", kind: argString},
					{name: "arg", kind: argString, optional: true, multiple: true},
				},
			},
			{
				name: "insync", arity: 4, group: "cluster", since: "7.0.0", run: cmdRingInsync,
				flags:      flagNoScript | flagStale | flagAdmin | flagSystem,
				summary:    "Internal: returns how many backups have the writes of a connection.",
				complexity: "O(N) with N the number of ranges.",
				args:       []argument{{name: "footprint", kind: argString}, {name: "wait", kind: argInteger}},
			},
			{
				name: "keyspace", arity: 2, group: "cluster", since: "7.0.0", run: cmdRingKeyspace,
				flags:      flagNoScript | flagStale | flagAdmin | flagSystem,
				summary:    "Internal: counts the keys that this node serves, and those with an expiry.",
				complexity: "O(N) with N the number of ranges.",
			},
			{
				name: "events", arity: 7, group: "cluster", since: "7.0.0", run: cmdRingEvents,
				flags:      flagFast | flagNoScript | flagStale | flagAdmin | flagSystem, // no pause holds it back
				summary:    "Internal: receives key events of another node.",
				complexity: "O(N) with N the number of events.",
				args: []argument{
					{name: "node", kind: argString}, {name: "run", kind: argString}, {name: "wants", kind: argInteger},
					{name: "first", kind: argInteger}, {name: "events", kind: argString},
				},
			},
			{
				name: "heed", arity: -6, group: "cluster", since: "7.0.0", run: cmdRingHeed,
				flags:      flagNoScript | flagStale | flagAdmin | flagSystem,
				summary:    "Internal: returns changed keys that clients of another node track.",
				complexity: "O(N) with N the number of keys.",
				args: []argument{
					{name: "node", kind: argString}, {name: "session", kind: argString}, {name: "heard", kind: argInteger},
					{name: "mode", kind: argOneOf, args: tokens("FRESH", "SAY", "PARK", "ROUSE", "END")},
					{name: "prefix", kind: argString, optional: true, multiple: true},
				},
			},
			{
				name: "serves", arity: 3, group: "cluster", since: "7.0.0", run: cmdRingServes,
				flags:      flagFast | flagNoScript | flagStale | flagAdmin | flagSystem, // no pause holds it back
				summary:    "Internal: replies OK if this node serves a key.",
				complexity: "O(1)",
				keys:       subKey("RO"),
				args:       []argument{keyArg},
			},
			ringGuest("enqueue", 5, cmdRingEnqueue, "Internal: makes the next command wait here if it finds nothing.",
				argument{name: "id", kind: argString}, argument{name: "ticket", kind: argInteger}, argument{name: "memo", kind: argString}),
			ringGuest("await", 3, cmdRingAwait, "Internal: returns the state of a command that waits here.",
				argument{name: "id", kind: argString}),
			ringGuest("dequeue", 3, cmdRingDequeue, "Internal: ends the wait of a command that waits here.",
				argument{name: "id", kind: argString}),
			ringWhole("watch", -3, cmdRingWatch, flagReadonly, "Internal: returns the versions of watched keys."),
			ringWhole("exec", -4, cmdRingExec, flagWrite, "Internal: runs a transaction for another node."),
			ringWhole("view", -4, cmdRingExec, flagReadonly, "Internal: runs a read-only transaction for another node."),
			{
				name: "script", arity: -3, group: "cluster", since: "7.0.0", run: cmdRingScript,
				flags:      flagNoScript | flagStale | flagAdmin | flagSystem,
				summary:    "Internal: runs this node's part of SCRIPT.",
				complexity: "Depends on the subcommand.",
			},
			ringOrder("plan", -4, cmdRingPlan, "Shows what would move if nodes joined or left.",
				argument{name: "join", kind: argString, token: "JOIN", optional: true, multiple: true},
				argument{name: "leave", kind: argString, token: "LEAVE", optional: true, multiple: true}),
			ringOrder("leave", 2, cmdRingLeave, "Hands over all data of this node, then stops it."),
			ringOrder("forget", 3, cmdRingForget, "Removes a node that will not return from the cluster.",
				argument{name: "node", kind: argString}),
			ringOrder("pause", 2, cmdRingPause, "Stops data movement in the cluster."),
			ringOrder("resume", 2, cmdRingResume, "Allows data movement again."),
			ringOrder("throttle", 3, cmdRingThrottle, "Limits data movement, in bytes per second and node.",
				argument{name: "bytes", kind: argString}),
			ringOrder("backups", 3, cmdRingBackups, "Sets the number of backups of each range.",
				argument{name: "copies", kind: argInteger}),
			ringOrder("scrub", -2, cmdRingScrub, "Compares all copies now, or returns the progress.",
				argument{name: "status", kind: argPureToken, token: "STATUS", optional: true}),
			ringOrder("recreate", -3, cmdRingRecreate, "Creates ranges again that have no copy left.",
				argument{name: "range", kind: argString, multiple: true},
				argument{name: "node", kind: argString, token: "FROM", optional: true}),
			ringOrder("pin", 3, cmdRingPin, "Picks a node's points by hand (strategy vnode).",
				argument{name: "pins", kind: argString}),
			{
				name: "help", arity: 2, group: "cluster", since: "7.0.0", run: cmdRingHelp,
				flags:      flagLoading | flagStale,
				summary:    "Lists the subcommands, with one line for each.",
				complexity: "O(1)",
			},
		},
	},
}

// ringQuery is a row of RING that any client may ask for.
func ringQuery(name string, arity int, run func(*call), summary string, args ...argument) *command {
	return &command{
		name: name, arity: arity, group: "cluster", since: "7.0.0", run: run, summary: summary, args: args,
		flags: flagLoading | flagStale, complexity: "O(N) with N the number of ranges.",
		tips: []string{"nondeterministic_output"},
	}
}

// ringGuest is a row of RING that nodes send for a client that waits.
func ringGuest(name string, arity int, run func(*call), summary string, args ...argument) *command {
	return &command{
		name: name, arity: arity, group: "cluster", since: "7.0.0", run: run, summary: summary, args: args,
		flags: flagNoScript | flagStale | flagAdmin | flagSystem, complexity: "O(log(N)) with N the number of commands that wait.",
	}
}

// ringWhole is a row of RING that nodes send each other about several keys. Its keys are
// found by code, but for those of WATCH.
func ringWhole(name string, arity int, run func(*call), access cmdFlag, summary string) *command {
	flags := "RW access update"
	if access == flagReadonly {
		flags = "RO access"
	}
	keys := []keySpec{{flags: flags, unknown: true}}
	if name == "watch" {
		keys = []keySpec{{flags: flags, index: 2, last: -1, step: 1}}
	}
	return &command{
		name: name, arity: arity, group: "cluster", since: "7.0.0", run: run, summary: summary, keys: keys,
		flags: access | flagNoScript | flagStale | flagSystem | flagSkipMonitor, complexity: "That of the commands.",
		frees: access == flagWrite, // its commands are judged one by one
	}
}

// ringOrder is a row of RING that changes the cluster, or asks it for a plan.
func ringOrder(name string, arity int, run func(*call), summary string, args ...argument) *command {
	return &command{
		name: name, arity: arity, group: "cluster", since: "7.0.0", run: run, summary: summary, args: args,
		flags: flagAdmin | flagNoScript | flagStale, complexity: "O(N) with N the number of ranges.",
	}
}
