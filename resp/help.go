package resp

// help replies as HELP subcommands do: a headline, the given lines, and HELP
// itself. A line is the syntax of a subcommand or, indented by four spaces, what
// it does.
func help(x *Call, name string, lines ...string) {
	x.Array(len(lines) + 3)
	x.Simple(name + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, line := range lines {
		x.Simple(line)
	}
	x.Simple("HELP")
	x.Simple("    Print this help.")
}

func cmdClientHelp(x *Call) {
	help(x, "CLIENT",
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
		"NO-EVICT ON|OFF",
		"    Exempt this connection when clients use too much memory.",
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

func cmdConfigHelp(x *Call) {
	help(x, "CONFIG",
		"GET <pattern> [<pattern> ...]",
		"    Show the settings whose names match a pattern.",
		"SET <name> <value> [<name> <value> ...]",
		"    Change settings, all of them or none.",
		"RESETSTAT",
		"    Set the counters of INFO back to zero.",
	)
}

func cmdMemoryHelp(x *Call) {
	help(x, "MEMORY",
		"DOCTOR",
		"    Say what is remarkable about the memory in use.",
		"MALLOC-STATS",
		"    Show what the allocator says of itself.",
		"PURGE",
		"    Give memory that is not in use back to the system.",
		"STATS",
		"    Tell what memory is used for.",
		"USAGE <key> [SAMPLES <count>]",
		"    Estimate how many bytes a key takes. Of a collection, <count>",
		"    elements are measured (default: 5, all of them: 0).",
	)
}

func cmdObjectHelp(x *Call) {
	help(x, "OBJECT",
		"ENCODING <key>",
		"    Name the way in which the value is stored.",
		"FREQ <key>",
		"    Tell how often the key is used, on a logarithmic scale.",
		"IDLETIME <key>",
		"    Tell for how many seconds the key has not been used.",
		"REFCOUNT <key>",
		"    Tell how many references the value has.",
	)
}

func cmdSlowlogHelp(x *Call) {
	help(x, "SLOWLOG",
		"GET [<count>]",
		"    Show the latest entries, newest first (default: 10, all: -1). An entry",
		"    is: number, Unix time, microseconds, the command's words, the client's",
		"    address and name.",
		"LEN",
		"    Count the entries.",
		"RESET",
		"    Delete the entries.",
	)
}

// wrongSubcommand replies as Redis does where a subcommand does not have the
// arguments that its arity lets through.
func (x *Call) wrongSubcommand(container string) {
	x.Error("ERR unknown subcommand or wrong number of arguments for '" + string(shown(x.args[1], 128)) +
		"'. Try " + container + " HELP.")
}
