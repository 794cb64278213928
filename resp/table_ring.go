package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/orders"
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
		Subs: append([]*command.Row{
			command.RingQuery("ack", -2, byServer(cmdRingAck)),
			command.RingQuery("info", 2, byServer(cmdRingInfo)),
			command.RingQuery("atomic", -2, byServer(cmdRingAtomic)),
			command.RingQuery("explain", 3, byServer(cmdRingExplain)),
			command.RingQuery("locate", 3, byServer(cmdRingLocate)),
			{
				Name: "slowlog", Arity: -2, Group: "cluster", Run: byServer(cmdRingSlowlog), ForNodes: true,
				Flags: command.FlagAdmin | command.FlagLoading | command.FlagStale | command.FlagSkipSlowlog,
				Tips:  []string{"nondeterministic_output"},
			},
			command.RingQuery("nodes", 2, byServer(cmdRingNodes)),
			command.RingQuery("placement", -2, byServer(cmdRingPlacement)),
			command.RingQuery("status", -2, byServer(cmdRingStatus)),
			command.RingQuery("route", -2, byServer(cmdRingRoute)),
			command.RingGuest("part", -5, byServer(cmdRingPart)),
			{
				Name: "insync", Arity: 4, Group: "cluster", Run: byServer(cmdRingInsync),
				Spread: true, Between: true, Waits: true,
				Flags: command.FlagNoScript | command.FlagStale | command.FlagAdmin | command.FlagSystem,
			},
			command.RingGuest("sync", 2, byServer(cmdRingSync)),
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
			command.RingGuest("full", 3, byServer(cmdRingFull)),
			command.RingGuest("heed", -6, byServer(cmdRingHeed)),
			command.RingGuest("monitor", 5, byServer(cmdRingMonitor)),
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
			{
				Name: "debug", Arity: 4, Group: "cluster", Run: keys.DebugObject, Between: true,
				Flags: command.FlagReadonly | command.FlagAdmin | command.FlagNoScript | command.FlagSystem | command.FlagSkipMonitor,
				Keys:  []command.KeySpec{{Flags: "RO access", Index: 3, Step: 1}},
			},
			command.RingGuest("as", -4, byServer(cmdRingAs)),
			command.RingGuest("users", 3, byServer(cmdRingUsers)),
			command.RingGuest("enqueue", 5, byServer(cmdRingEnqueue)),
			command.RingGuest("await", 3, byServer(cmdRingAwait)),
			command.RingGuest("dequeue", 3, byServer(cmdRingDequeue)),
			{
				Name: "move", Arity: 4, Group: "cluster", Run: keys.Move,
				Between: true, Moves: true,
				Flags: command.FlagWrite | command.FlagNoScript | command.FlagStale | command.FlagSystem | command.FlagSkipMonitor,
				Keys:  []command.KeySpec{{Flags: "RW access update", Index: 2, Last: 1, Step: 1}},
			},
			{
				Name: "evict", Arity: 3, Group: "cluster", Run: byServer(cmdRingEvict),
				Between: true, Frees: true, Quick: true,
				Flags: command.FlagWrite | command.FlagNoScript | command.FlagStale | command.FlagSystem | command.FlagSkipMonitor,
				Keys:  []command.KeySpec{{Flags: "RW delete", Index: 2, Step: 1}},
			},
			command.RingRehome("fetch", byServer(cmdRingMoved), command.KeySpec{Flags: "RO access", Index: 4, Last: -1, Step: 1}),
			command.RingRehome("place", byServer(cmdRingMoved), command.KeySpec{Flags: "OW insert", Index: 4, Last: -1, Step: 2}),
			command.RingRehome("drop", byServer(cmdRingMoved), command.KeySpec{Flags: "RW delete", Index: 4, Last: -1, Step: 1}),
			{
				Name: "stride", Arity: 5, Group: "cluster", Run: byServer(cmdRingStride),
				Spread: true, Between: true, Waits: true,
				Flags: command.FlagNoScript | command.FlagStale | command.FlagAdmin | command.FlagSystem,
			},
			command.RingOrder("rehome", 3, byServer(cmdRingRehome)),
			command.RingWhole("watch", -3, byServer(cmdRingWatch), command.FlagReadonly),
			command.RingWhole("exec", -4, byServer(cmdRingExec), command.FlagWrite),
			command.RingWhole("view", -4, byServer(cmdRingExec), command.FlagReadonly),
			command.RingGuest("script", -3, byServer(cmdRingScript)),
			command.RingOrder("backup", -3, byServer(cmdRingBackup)),
			command.RingOrder("databases", -2, byServer(cmdRingDatabases)),
			command.RingOrder("database", -3, byServer(cmdRingDatabase)),
			command.RingOrder("format", -2, byServer(cmdRingFormat)),
			command.RingOrder("scrub", -2, byServer(cmdRingScrub)),
			command.RingOrder("user", -4, byServer(cmdRingUser)),
			{
				Name: "help", Arity: 2, Group: "cluster", Run: admin.RingHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
		}, orders.Commands...),
	},
}
