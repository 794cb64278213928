package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/keys"
)

// The commands that Redis does not have: who has what, and orders to the cluster.
var ringCommands = []command.Row{
	{
		Name: "hashmask", Arity: -1, Group: "cluster", Run: byServer(cmdHashmask),
		Flags: command.FlagLoading | command.FlagStale,
		Subs: []*command.Row{
			{
				Name: "subscribe", Arity: 2, Group: "cluster", Run: byServer(cmdHashmaskSubscribe),
				Flags: command.FlagPubSub | command.FlagNoScript | command.FlagLoading | command.FlagStale,
			},
			{
				Name: "help", Arity: 2, Group: "cluster", Run: admin.HashmaskHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
		},
	},
	{
		Name: "loadlevels", Arity: -1, Group: "cluster", Run: byServer(cmdLoadlevels),
		Flags: command.FlagLoading | command.FlagStale,
	},
	{
		Name: "ring", Arity: -2, Group: "cluster",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			ringQuery("ack", -2, cmdRingAck),
			ringQuery("info", 2, cmdRingInfo),
			ringQuery("atomic", -2, cmdRingAtomic),
			ringQuery("explain", 3, cmdRingExplain),
			ringQuery("locate", 3, cmdRingLocate),
			{
				Name: "slowlog", Arity: -2, Group: "cluster", Run: byServer(cmdRingSlowlog), ForNodes: true,
				Flags: command.FlagAdmin | command.FlagLoading | command.FlagStale | command.FlagSkipSlowlog,
				Tips:  []string{"nondeterministic_output"},
			},
			ringQuery("nodes", 2, cmdRingNodes),
			ringQuery("placement", -2, cmdRingPlacement),
			ringQuery("status", -2, cmdRingStatus),
			ringQuery("route", -2, cmdRingRoute),
			ringGuest("part", -5, cmdRingPart),
			{
				Name: "insync", Arity: 4, Group: "cluster", Run: byServer(cmdRingInsync),
				Spread: true, Between: true, Waits: true,
				Flags: command.FlagNoScript | command.FlagStale | command.FlagAdmin | command.FlagSystem,
			},
			ringGuest("sync", 2, cmdRingSync),
			{
				Name: "drained", Arity: 4, Group: "cluster", Run: byServer(cmdRingDrained),
				Spread: true, Between: true, Waits: true,
				Flags: command.FlagNoScript | command.FlagStale | command.FlagAdmin | command.FlagSystem,
			},
			{
				Name: "keyspace", Arity: 2, Group: "cluster", Run: byServer(cmdRingKeyspace),
				Spread: true, Between: true, Waits: true,
				Flags: command.FlagNoScript | command.FlagStale | command.FlagAdmin | command.FlagSystem,
			},
			{
				Name: "events", Arity: 7, Group: "cluster", Run: byServer(cmdRingEvents),
				Between: true, Waits: true, OutlivesDeadline: true,
				Flags: command.FlagFast | command.FlagNoScript | command.FlagStale | command.FlagAdmin | command.FlagSystem, // no pause holds it back
			},
			ringGuest("full", 3, cmdRingFull),
			ringGuest("heed", -6, cmdRingHeed),
			ringGuest("monitor", 5, cmdRingMonitor),
			{
				Name: "serves", Arity: 3, Group: "cluster", Run: byServer(cmdRingServes),
				Waits: true,
				Flags: command.FlagFast | command.FlagNoScript | command.FlagStale | command.FlagAdmin | command.FlagSystem, // no pause holds it back
				Keys:  command.SubKey("RO"),
			},
			{
				Name: "value", Arity: 4, Group: "cluster", Run: keys.Value,
				Flags: command.FlagReadonly | command.FlagAdmin | command.FlagNoScript | command.FlagSystem | command.FlagSkipMonitor,
				Keys:  command.SubKey("RO access"),
			},
			ringGuest("as", -4, cmdRingAs),
			ringGuest("users", 3, cmdRingUsers),
			ringGuest("enqueue", 5, cmdRingEnqueue),
			ringGuest("await", 3, cmdRingAwait),
			ringGuest("dequeue", 3, cmdRingDequeue),
			{
				Name: "move", Arity: 4, Group: "cluster", Run: keys.Move,
				Between: true,
				Flags:   command.FlagWrite | command.FlagNoScript | command.FlagStale | command.FlagSystem | command.FlagSkipMonitor,
				Keys:    []command.KeySpec{{Flags: "RW access update", Index: 2, Last: 1, Step: 1}},
			},
			{
				Name: "evict", Arity: 3, Group: "cluster", Run: byServer(cmdRingEvict),
				Between: true, Frees: true, Quick: true,
				Flags: command.FlagWrite | command.FlagNoScript | command.FlagStale | command.FlagSystem | command.FlagSkipMonitor,
				Keys:  []command.KeySpec{{Flags: "RW delete", Index: 2, Step: 1}},
			},
			ringRehome("fetch", command.KeySpec{Flags: "RO access", Index: 4, Last: -1, Step: 1}),
			ringRehome("place", command.KeySpec{Flags: "OW insert", Index: 4, Last: -1, Step: 2}),
			ringRehome("drop", command.KeySpec{Flags: "RW delete", Index: 4, Last: -1, Step: 1}),
			{
				Name: "stride", Arity: 5, Group: "cluster", Run: byServer(cmdRingStride),
				Spread: true, Between: true, Waits: true,
				Flags: command.FlagNoScript | command.FlagStale | command.FlagAdmin | command.FlagSystem,
			},
			ringOrder("rehome", 3, cmdRingRehome),
			ringWhole("watch", -3, cmdRingWatch, command.FlagReadonly),
			ringWhole("exec", -4, cmdRingExec, command.FlagWrite),
			ringWhole("view", -4, cmdRingExec, command.FlagReadonly),
			ringGuest("script", -3, cmdRingScript),
			ringQuery("decisions", -2, cmdRingDecisions),
			ringOrder("plan", -3, cmdRingPlan),
			ringOrder("balance", -3, cmdRingBalance),
			ringOrder("strategy", -2, cmdRingStrategy),
			ringOrder("leave", 2, cmdRingLeave),
			ringOrder("forget", 3, cmdRingForget),
			ringOrder("pause", 2, cmdRingPause),
			ringOrder("resume", 2, cmdRingResume),
			ringOrder("throttle", 3, cmdRingThrottle),
			ringOrder("backup", -3, cmdRingBackup),
			ringOrder("backups", 3, cmdRingBackups),
			ringOrder("databases", -2, cmdRingDatabases),
			ringOrder("database", -3, cmdRingDatabase),
			ringOrder("scrub", -2, cmdRingScrub),
			ringOrder("recreate", -3, cmdRingRecreate),
			ringOrder("pin", 3, cmdRingPin),
			ringOrder("user", -4, cmdRingUser),
			{
				Name: "help", Arity: 2, Group: "cluster", Run: admin.RingHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
		},
	},
}

// ringQuery is a row of RING that any client may ask for.
func ringQuery(name string, arity int, run func(*call)) *command.Row {
	return &command.Row{
		Name: name, Arity: arity, Group: "cluster", Run: byServer(run),
		Flags: command.FlagLoading | command.FlagStale,
		Tips:  []string{"nondeterministic_output"},
	}
}

// ringGuest is a row of RING that nodes send each other, and that may wait.
func ringGuest(name string, arity int, run func(*call)) *command.Row {
	return &command.Row{
		Name: name, Arity: arity, Group: "cluster", Run: byServer(run),
		Between: true, Waits: true,
		Flags: command.FlagNoScript | command.FlagStale | command.FlagAdmin | command.FlagSystem,
	}
}

// ringWhole is a row of RING that nodes send each other about several keys. Its keys are
// found by code, but for those of WATCH.
func ringWhole(name string, arity int, run func(*call), access command.Flag) *command.Row {
	flags := "RW access update"
	if access == command.FlagReadonly {
		flags = "RO access"
	}
	specs := []command.KeySpec{{Flags: flags, Unknown: true}}
	if name == "watch" {
		specs = []command.KeySpec{{Flags: flags, Index: 2, Last: -1, Step: 1}}
	}
	return &command.Row{
		Name: name, Arity: arity, Group: "cluster", Run: byServer(run), Keys: specs,
		Between: true, KeysOfExec: name != "watch",
		Flags: access | command.FlagNoScript | command.FlagStale | command.FlagSystem | command.FlagSkipMonitor,
		Frees: access == command.FlagWrite, // its commands are judged one by one
	}
}

// ringRehome is a row of RING that a node sends to owners of keys that move within their database:
// data and step, and the keys.
func ringRehome(name string, keys command.KeySpec) *command.Row {
	access := command.FlagWrite
	if name == "fetch" {
		access = command.FlagReadonly
	}
	return &command.Row{
		Name: name, Arity: -5, Group: "cluster", Run: byServer(cmdRingMoved), Keys: []command.KeySpec{keys},
		Between: true, Rehomes: true, Latched: true, Frees: name == "drop",
		Flags: access | command.FlagNoScript | command.FlagStale | command.FlagSystem | command.FlagSkipMonitor,
	}
}

// ringOrder is a row of RING that changes the cluster, or asks it for a plan.
func ringOrder(name string, arity int, run func(*call)) *command.Row {
	return &command.Row{
		Name: name, Arity: arity, Group: "cluster", Run: byServer(run),
		Waits: true,
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagStale,
	}
}
