package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// The commands that send messages and subscribe to them.
var pubsubCommands = []command.Row{
	subscribing("subscribe", -2, cmdSubscribe),
	subscribing("unsubscribe", -1, cmdUnsubscribe),
	subscribing("psubscribe", -2, cmdPsubscribe),
	subscribing("punsubscribe", -1, cmdPunsubscribe),
	{
		Name: "publish", Arity: 3, Group: "pubsub", Run: byServer(cmdPublish),
		Publishes: true, OutlivesDeadline: true,
		Flags: command.FlagPubSub | command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagMayReplicate,
	},
	{
		Name: "spublish", Arity: 3, Group: "pubsub", Run: byServer(cmdSpublish),
		Publishes: true, OutlivesDeadline: true,
		Flags: command.FlagPubSub | command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagMayReplicate,
		Keys:  command.OneKey("not_key"),
	},
	sharded(subscribing("ssubscribe", -2, cmdSsubscribe)),
	sharded(subscribing("sunsubscribe", -1, cmdSunsubscribe)),
	{
		Name: "pubsub", Arity: -2, Group: "pubsub",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			aboutSubscriptions("channels", -2, cmdPubsubChannels),
			aboutSubscriptions("numpat", 2, cmdPubsubNumpat),
			aboutSubscriptions("numsub", -2, cmdPubsubNumsub),
			aboutSubscriptions("shardchannels", -2, cmdPubsubShardchannels),
			aboutSubscriptions("shardnumsub", -2, cmdPubsubShardnumsub),
			{
				Name: "help", Arity: 2, Group: "pubsub", Run: admin.PubsubHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
		},
	},
}

func subscribing(name string, arity int, run func(*call)) command.Row {
	return command.Row{
		Name: name, Arity: arity, Group: "pubsub", Run: byServer(run),
		Subscribes: true, WhileSubscribed: true,
		Flags: command.FlagPubSub | command.FlagNoScript | command.FlagLoading | command.FlagStale,
	}
}

// sharded is a command whose arguments are shard channels.
func sharded(c command.Row) command.Row {
	c.Keys = command.AllKeys("not_key")
	return c
}

func aboutSubscriptions(name string, arity int, run func(*call)) *command.Row {
	return &command.Row{
		Name: name, Arity: arity, Group: "pubsub", Run: byServer(run),
		ForNodes: true,
		Flags:    command.FlagPubSub | command.FlagLoading | command.FlagStale,
	}
}
