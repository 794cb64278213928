package resp

// The commands that send messages and subscribe to them.
var pubsubCommands = []command{
	subscribing("subscribe", -2, cmdSubscribe),
	subscribing("unsubscribe", -1, cmdUnsubscribe),
	subscribing("psubscribe", -2, cmdPsubscribe),
	subscribing("punsubscribe", -1, cmdPunsubscribe),
	{
		name: "publish", arity: 3, group: "pubsub", run: byServer(cmdPublish),
		publishes: true, outlivesDeadline: true,
		flags: flagPubSub | flagLoading | flagStale | flagFast | flagMayReplicate,
	},
	{
		name: "spublish", arity: 3, group: "pubsub", run: byServer(cmdSpublish),
		publishes: true, outlivesDeadline: true,
		flags: flagPubSub | flagLoading | flagStale | flagFast | flagMayReplicate,
		keys:  oneKey("not_key"),
	},
	sharded(subscribing("ssubscribe", -2, cmdSsubscribe)),
	sharded(subscribing("sunsubscribe", -1, cmdSunsubscribe)),
	{
		name: "pubsub", arity: -2, group: "pubsub",
		flags: flagContainer,
		subs: []*command{
			aboutSubscriptions("channels", -2, cmdPubsubChannels),
			aboutSubscriptions("numpat", 2, cmdPubsubNumpat),
			aboutSubscriptions("numsub", -2, cmdPubsubNumsub),
			aboutSubscriptions("shardchannels", -2, cmdPubsubShardchannels),
			aboutSubscriptions("shardnumsub", -2, cmdPubsubShardnumsub),
			{
				name: "help", arity: 2, group: "pubsub", run: cmdPubsubHelp,
				flags: flagLoading | flagStale,
			},
		},
	},
}

func subscribing(name string, arity int, run func(*call)) command {
	return command{
		name: name, arity: arity, group: "pubsub", run: byServer(run),
		subscribes: true, whileSubscribed: true,
		flags: flagPubSub | flagNoScript | flagLoading | flagStale,
	}
}

// sharded is a command whose arguments are shard channels.
func sharded(c command) command {
	c.keys = allKeys("not_key")
	return c
}

func aboutSubscriptions(name string, arity int, run func(*call)) *command {
	return &command{
		name: name, arity: arity, group: "pubsub", run: byServer(run),
		forNodes: true,
		flags:    flagPubSub | flagLoading | flagStale,
	}
}
