package resp

// The commands that send messages and subscribe to them.
var pubsubCommands = []command{
	subscribing("subscribe", -2, "2.0.0", cmdSubscribe, "Has the messages of channels sent to this connection.",
		"O(N) with N the number of channels.",
		argument{name: "channel", kind: argString, multiple: true}),
	subscribing("unsubscribe", -1, "2.0.0", cmdUnsubscribe, "Ends subscriptions to channels, or to all of them.",
		"O(N) with N the number of channels.",
		argument{name: "channel", kind: argString, optional: true, multiple: true}),
	subscribing("psubscribe", -2, "2.0.0", cmdPsubscribe, "Has the messages of all channels that match patterns sent to this connection.",
		"O(N) with N the number of patterns.",
		argument{name: "pattern", kind: argBlock, multiple: true, args: []argument{{name: "pattern", kind: argPattern}}}),
	subscribing("punsubscribe", -1, "2.0.0", cmdPunsubscribe, "Ends subscriptions to patterns, or to all of them.",
		"O(N) with N the number of patterns.",
		argument{name: "pattern", kind: argPattern, optional: true, multiple: true}),
	{
		name: "publish", arity: 3, group: "pubsub", since: "2.0.0", run: cmdPublish,
		flags:      flagPubSub | flagLoading | flagStale | flagFast | flagMayReplicate,
		summary:    "Sends a message to all clients of the cluster that have subscribed to a channel.",
		complexity: "O(N+M) with N the number of subscribers of the channel and M that of all patterns.",
		args:       []argument{{name: "channel", kind: argString}, {name: "message", kind: argString}},
	},
	{
		name: "spublish", arity: 3, group: "pubsub", since: "7.0.0", run: cmdSpublish,
		flags:      flagPubSub | flagLoading | flagStale | flagFast | flagMayReplicate,
		summary:    "Sends a message to all clients of the cluster that have subscribed to a shard channel.",
		complexity: "O(N) with N the number of subscribers of the shard channel.",
		keys:       oneKey("not_key"),
		args:       []argument{{name: "shardchannel", kind: argString}, {name: "message", kind: argString}},
	},
	sharded(subscribing("ssubscribe", -2, "7.0.0", cmdSsubscribe, "Has the messages of shard channels sent to this connection.",
		"O(N) with N the number of shard channels.",
		argument{name: "shardchannel", kind: argString, multiple: true})),
	sharded(subscribing("sunsubscribe", -1, "7.0.0", cmdSunsubscribe, "Ends subscriptions to shard channels, or to all of them.",
		"O(N) with N the number of shard channels.",
		argument{name: "shardchannel", kind: argString, optional: true, multiple: true})),
	{
		name: "pubsub", arity: -2, group: "pubsub", since: "2.8.0",
		flags:      flagContainer,
		summary:    "Groups the commands that tell of subscriptions.",
		complexity: "Depends on the subcommand.",
		subs: []*command{
			aboutSubscriptions("channels", -2, "2.8.0", cmdPubsubChannels, "Lists the channels of the cluster that have subscribers.",
				"O(N) with N the number of channels that have subscribers.",
				argument{name: "pattern", kind: argPattern, optional: true}),
			aboutSubscriptions("numpat", 2, "2.8.0", cmdPubsubNumpat, "Counts the patterns of the cluster that have subscribers.",
				"O(N) with N the number of patterns."),
			aboutSubscriptions("numsub", -2, "2.8.0", cmdPubsubNumsub, "Counts the subscribers of channels over the whole cluster.",
				"O(N) with N the number of channels asked for.",
				argument{name: "channel", kind: argString, optional: true, multiple: true}),
			aboutSubscriptions("shardchannels", -2, "7.0.0", cmdPubsubShardchannels, "Lists the shard channels of the cluster that have subscribers.",
				"O(N) with N the number of shard channels that have subscribers.",
				argument{name: "pattern", kind: argPattern, optional: true}),
			aboutSubscriptions("shardnumsub", -2, "7.0.0", cmdPubsubShardnumsub, "Counts the subscribers of shard channels over the whole cluster.",
				"O(N) with N the number of shard channels asked for.",
				argument{name: "shardchannel", kind: argString, optional: true, multiple: true}),
			{
				name: "help", arity: 2, group: "pubsub", since: "6.2.0", run: cmdPubsubHelp,
				flags:      flagLoading | flagStale,
				summary:    "Lists the subcommands, with one line for each.",
				complexity: "O(1)",
			},
		},
	},
}

func subscribing(name string, arity int, since string, run func(*call), summary, complexity string, arg argument) command {
	return command{
		name: name, arity: arity, group: "pubsub", since: since, run: run,
		flags:   flagPubSub | flagNoScript | flagLoading | flagStale,
		summary: summary, complexity: complexity, args: []argument{arg},
	}
}

// sharded is a command whose arguments are shard channels.
func sharded(c command) command {
	c.keys = allKeys("not_key")
	return c
}

func aboutSubscriptions(name string, arity int, since string, run func(*call), summary, complexity string, args ...argument) *command {
	return &command{
		name: name, arity: arity, group: "pubsub", since: since, run: run,
		flags:   flagPubSub | flagLoading | flagStale,
		summary: summary, complexity: complexity, args: args,
	}
}
