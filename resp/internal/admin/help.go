package admin

import "github.com/ringside-kv/ringside/resp/internal/command"

func moduleHelp(x *command.Call) {
	command.Help(x, "MODULE",
		"LIST",
		"    List the modules; there are none.",
	)
}

// ClientHelp is CLIENT HELP.
func ClientHelp(x *command.Call) {
	command.Help(x, "CLIENT",
		"CACHING YES|NO",
		"    Say whether the next command's keys are tracked (OPTIN, OPTOUT).",
		"GETREDIR",
		"    Tell which connection is told of this one's keys.",
		"GETNAME",
		"    Tell the name of this connection.",
		"ID",
		"    Tell the number of this connection.",
		"INFO",
		"    Describe this connection as LIST does.",
		"KILL <ip:port>",
		"    Close the connection from this address.",
		"KILL <filter> <value> [<filter> <value> ...]",
		"    Close the connections that pass every filter:",
		"    ADDR <ip:port>     the client's address",
		"    ID <number>        the connection's number",
		"    LADDR <ip:port>    the server's address",
		"    SKIPME YES|NO      whether this connection is left out (default: YES)",
		"    TYPE <type>        NORMAL, MASTER, REPLICA or PUBSUB",
		"    USER <name>        the user it has authenticated as",
		"LIST [TYPE <type> | ID <number> [<number> ...]]",
		"    Describe the connections, one to a line.",
		"MAINT_NOTIFICATIONS ON [MOVING-ENDPOINT-TYPE <type>] | OFF",
		"    Have this connection told before its node stops.",
		"NO-EVICT ON|OFF",
		"    Exempt this connection when clients use too much memory.",
		"NO-TOUCH ON|OFF",
		"    Leave the LRU and LFU figures of keys that this connection reads as they are.",
		"PAUSE <milliseconds> [WRITE|ALL]",
		"    Hold back writes, or all commands, for a time.",
		"REPLY ON|OFF|SKIP",
		"    Send replies, send none, or leave out the next one.",
		"SETINFO LIB-NAME|LIB-VER <value>",
		"    Record the client library's name or version.",
		"SETNAME <name>",
		"    Name this connection.",
		"TRACKING ON|OFF [REDIRECT <id>] [BCAST] [PREFIX <prefix> ...]",
		"    [OPTIN] [OPTOUT] [NOLOOP]",
		"    Have this connection told when keys change that it has read.",
		"TRACKINGINFO",
		"    Tell how this connection is tracked.",
		"UNBLOCK <number> [TIMEOUT|ERROR]",
		"    End the wait of a client in a blocking command.",
		"UNPAUSE",
		"    End a pause early.",
	)
}

// ClusterHelp is CLUSTER HELP.
func ClusterHelp(x *command.Call) {
	command.Help(x, "CLUSTER",
		"COUNT-FAILURE-REPORTS <node-id>",
		"    Count the nodes that take another for dead: 0.",
		"COUNTKEYSINSLOT <slot>",
		"    Count the keys of a slot on this node.",
		"GETKEYSINSLOT <slot> <count>",
		"    List keys of a slot on this node.",
		"INFO",
		"    Tell how the cluster is.",
		"KEYSLOT <key>",
		"    Tell the slot of a key.",
		"MYID",
		"    Tell the id of this node.",
		"MYSHARDID",
		"    Tell the id of this node's shard.",
		"NODES",
		"    List the nodes and their slots, one node to a line.",
		"SAVECONFIG",
		"    Have the placement on disk, where it always is.",
		"SHARDS",
		"    List the slots with the nodes that have copies of them.",
		"SLOT-STATS SLOTSRANGE <start-slot> <end-slot>",
		"SLOT-STATS ORDERBY KEY-COUNT [LIMIT <n>] [ASC|DESC]",
		"    Count the keys of this node's slots, in the order of slots or of counts.",
		"SLOTS",
		"    List runs of slots with primary and replicas.",
	)
}

// PubsubHelp is PUBSUB HELP.
func PubsubHelp(x *command.Call) {
	command.Help(x, "PUBSUB",
		"CHANNELS [<pattern>]",
		"    List the channels that somebody has subscribed to, or those that match.",
		"NUMPAT",
		"    Count the patterns that somebody has subscribed to.",
		"NUMSUB [<channel> ...]",
		"    Count the subscribers of channels, without those of patterns.",
		"SHARDCHANNELS [<pattern>]",
		"    List the shard channels that somebody has subscribed to, or those that match.",
		"SHARDNUMSUB [<shardchannel> ...]",
		"    Count the subscribers of shard channels.",
	)
}

// HashmaskHelp is HASHMASK HELP.
func HashmaskHelp(x *command.Call) {
	command.Help(x, "HASHMASK",
		"SUBSCRIBE",
		"    Push every change of the placement to this connection, as a message",
		"    of the channel __placement__.",
	)
}

// ScriptHelp is SCRIPT HELP.
func ScriptHelp(x *command.Call) {
	command.Help(x, "SCRIPT",
		"DEBUG (YES|SYNC|NO)",
		"    There is no debugger: only NO is understood.",
		"EXISTS <sha1> [<sha1> ...]",
		"    Tell which of the scripts are known.",
		"FLUSH [ASYNC|SYNC]",
		"    Forget all scripts, on all nodes.",
		"KILL",
		"    End scripts on all nodes. What they have written is not kept.",
		"LOAD <script>",
		"    Have all nodes know a script, without running it.",
	)
}
