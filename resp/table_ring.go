package resp

// The commands that Redis does not have: who has what, and orders to the cluster.
var ringCommands = []command{
	{
		name: "hashmask", arity: -1, group: "cluster", run: byServer(cmdHashmask),
		flags: flagLoading | flagStale,
		subs: []*command{
			{
				name: "subscribe", arity: 2, group: "cluster", run: byServer(cmdHashmaskSubscribe),
				flags: flagPubSub | flagNoScript | flagLoading | flagStale,
			},
			{
				name: "help", arity: 2, group: "cluster", run: cmdHashmaskHelp,
				flags: flagLoading | flagStale,
			},
		},
	},
	{
		name: "loadlevels", arity: 1, group: "cluster", run: byServer(cmdLoadlevels),
		flags: flagLoading | flagStale,
	},
	{
		name: "ring", arity: -2, group: "cluster",
		flags: flagContainer,
		subs: []*command{
			ringQuery("ack", -2, cmdRingAck),
			ringQuery("info", 2, cmdRingInfo),
			ringQuery("locate", 3, cmdRingLocate),
			ringQuery("nodes", 2, cmdRingNodes),
			ringQuery("placement", -2, cmdRingPlacement),
			ringQuery("status", -2, cmdRingStatus),
			ringQuery("route", -2, cmdRingRoute),
			{
				name: "part", arity: -5, group: "cluster", run: byServer(cmdRingPart),
				between: true, waits: true,
				flags: flagNoScript | flagStale | flagAdmin | flagSystem,
			},
			{
				name: "insync", arity: 4, group: "cluster", run: byServer(cmdRingInsync),
				spread: true, between: true, waits: true,
				flags: flagNoScript | flagStale | flagAdmin | flagSystem,
			},
			{
				name: "keyspace", arity: 2, group: "cluster", run: byServer(cmdRingKeyspace),
				spread: true, between: true, waits: true,
				flags: flagNoScript | flagStale | flagAdmin | flagSystem,
			},
			{
				name: "events", arity: 7, group: "cluster", run: byServer(cmdRingEvents),
				between: true, waits: true, outlivesDeadline: true,
				flags: flagFast | flagNoScript | flagStale | flagAdmin | flagSystem, // no pause holds it back
			},
			{
				name: "heed", arity: -6, group: "cluster", run: byServer(cmdRingHeed),
				between: true, waits: true,
				flags: flagNoScript | flagStale | flagAdmin | flagSystem,
			},
			{
				name: "serves", arity: 3, group: "cluster", run: byServer(cmdRingServes),
				waits: true,
				flags: flagFast | flagNoScript | flagStale | flagAdmin | flagSystem, // no pause holds it back
				keys:  subKey("RO"),
			},
			ringGuest("enqueue", 5, cmdRingEnqueue),
			ringGuest("await", 3, cmdRingAwait),
			ringGuest("dequeue", 3, cmdRingDequeue),
			ringWhole("watch", -3, cmdRingWatch, flagReadonly),
			ringWhole("exec", -4, cmdRingExec, flagWrite),
			ringWhole("view", -4, cmdRingExec, flagReadonly),
			{
				name: "script", arity: -3, group: "cluster", run: byServer(cmdRingScript),
				between: true, waits: true,
				flags: flagNoScript | flagStale | flagAdmin | flagSystem,
			},
			ringOrder("plan", -4, cmdRingPlan),
			ringOrder("leave", 2, cmdRingLeave),
			ringOrder("forget", 3, cmdRingForget),
			ringOrder("pause", 2, cmdRingPause),
			ringOrder("resume", 2, cmdRingResume),
			ringOrder("throttle", 3, cmdRingThrottle),
			ringOrder("backups", 3, cmdRingBackups),
			ringOrder("scrub", -2, cmdRingScrub),
			ringOrder("recreate", -3, cmdRingRecreate),
			ringOrder("pin", 3, cmdRingPin),
			{
				name: "help", arity: 2, group: "cluster", run: cmdRingHelp,
				flags: flagLoading | flagStale,
			},
		},
	},
}

// ringQuery is a row of RING that any client may ask for.
func ringQuery(name string, arity int, run func(*call)) *command {
	return &command{
		name: name, arity: arity, group: "cluster", run: byServer(run),
		flags: flagLoading | flagStale,
		tips:  []string{"nondeterministic_output"},
	}
}

// ringGuest is a row of RING that nodes send for a client that waits.
func ringGuest(name string, arity int, run func(*call)) *command {
	return &command{
		name: name, arity: arity, group: "cluster", run: byServer(run),
		between: true, waits: true,
		flags: flagNoScript | flagStale | flagAdmin | flagSystem,
	}
}

// ringWhole is a row of RING that nodes send each other about several keys. Its keys are
// found by code, but for those of WATCH.
func ringWhole(name string, arity int, run func(*call), access cmdFlag) *command {
	flags := "RW access update"
	if access == flagReadonly {
		flags = "RO access"
	}
	keys := []keySpec{{flags: flags, unknown: true}}
	if name == "watch" {
		keys = []keySpec{{flags: flags, index: 2, last: -1, step: 1}}
	}
	return &command{
		name: name, arity: arity, group: "cluster", run: byServer(run), keys: keys,
		between: true, keysOfExec: name != "watch",
		flags: access | flagNoScript | flagStale | flagSystem | flagSkipMonitor,
		frees: access == flagWrite, // its commands are judged one by one
	}
}

// ringOrder is a row of RING that changes the cluster, or asks it for a plan.
func ringOrder(name string, arity int, run func(*call)) *command {
	return &command{
		name: name, arity: arity, group: "cluster", run: byServer(run),
		waits: true,
		flags: flagAdmin | flagNoScript | flagStale,
	}
}
