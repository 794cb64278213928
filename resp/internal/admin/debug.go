package admin

import (
	"net"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/internal/socket"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// MsgNoDebug is the reply to DEBUG of a client that may not send it.
const MsgNoDebug = `ERR DEBUG command not allowed. If the enable-debug-command option is set to "local", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.`

// MayDebug reports whether a client of an address may send DEBUG, by enable-debug-command.
func MayDebug(setting string, client net.Addr) bool {
	return setting == "yes" || setting == "local" && socket.IsLoopback(client)
}

// isDebugOnKey reports whether a call of DEBUG is DEBUG OBJECT key.
func isDebugOnKey(args [][]byte) bool { return len(args) == 3 && wire.EqualFold(args[1], "object") }

// debugWith are the subcommands of DEBUG with one argument, by their names.
var debugWith = map[string]func(x *call, arg []byte){
	"error":             debugError,
	"log":               debugLog,
	"protocol":          debugProtocol,
	"set-active-expire": debugSetActiveExpire,
	"sleep":             debugSleep,
}

func cmdDebug(x *call) {
	if len(x.Args) == 3 {
		if run := debugWith[strings.ToLower(string(command.Shown(x.Args[1], 128)))]; run != nil {
			run(x, x.Args[2])
			return
		}
	}
	if len(x.Args) != 2 || !wire.EqualFold(x.Args[1], "help") {
		x.WrongSubcommand("DEBUG")
		return
	}
	command.Help(x.Call, "DEBUG",
		"ERROR <text>",
		"    Reply with an error of this text.",
		"LOG <message>",
		"    Write a message to the log.",
		"OBJECT <key>",
		"    Describe the value of a key.",
		"PROTOCOL <type>",
		"    Reply with a value of a type of the protocol:",
		"    "+protocolTypes+".",
		"SET-ACTIVE-EXPIRE <0|1>",
		"    Say whether this node removes by itself what has expired, or only what a command finds.",
		"SLEEP <seconds>",
		"    Keep this connection waiting.",
	)
}

const maxSleep = 24 * time.Hour

// debugSleep takes what is no number for 0, as Redis does. Unlike there, only this connection sleeps.
func debugSleep(x *call, arg []byte) {
	seconds, _ := wire.ParseFloat(arg)
	if seconds = min(seconds, maxSleep.Seconds()); seconds > 0 {
		x.client.Wait(time.Duration(seconds * float64(time.Second)))
	}
	x.OK()
}

func debugError(x *call, text []byte) { x.Error(string(text)) }

// maxMessage bounds what DEBUG LOG writes, in bytes.
const maxMessage = 1 << 10

func debugLog(x *call, message []byte) {
	x.srv.Log.Warn("DEBUG LOG", "message", string(command.Shown(message, maxMessage)), "client", x.client.ID())
	x.OK()
}

// debugSetActiveExpire takes what is no number for 0, as Redis does.
func debugSetActiveExpire(x *call, arg []byte) {
	n, _ := wire.ParseInt(arg)
	x.srv.Store.SetActiveExpiry(n != 0)
	x.OK()
}

// protocolTypes are those of DEBUG PROTOCOL.
const protocolTypes = "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false"

// debugProtocol replies with a value of a type, for tests of clients, which know the values from Redis.
func debugProtocol(x *call, name []byte) {
	switch strings.ToLower(string(command.Shown(name, len(protocolTypes)))) {
	case "string":
		x.BulkString("Hello World")
	case "integer":
		x.Int(12345)
	case "double":
		x.Double(3.141)
	case "bignum":
		x.BigNumber("1234567999999999999999999999999999999")
	case "null":
		x.Null()
	case "array":
		x.Array(3)
		countToThree(x, false)
	case "set":
		x.Set(3)
		countToThree(x, false)
	case "map":
		x.Map(3)
		countToThree(x, true)
	case "attrib":
		if x.Proto == 3 {
			x.Attribute(1)
			x.BulkString("key-popularity")
			x.Array(2)
			x.BulkString("key:123")
			x.Int(90)
		}
		x.BulkString("Some real reply following the attribute")
	case "push":
		if x.Proto != 3 {
			x.Error("ERR RESP2 is not supported by this command")
			return
		}
		x.Push(2)
		x.BulkString("server-cpu-usage")
		x.Int(42)
		x.BulkString("Some real reply following the push reply")
	case "verbatim":
		x.Verbatim("This is a verbatim\nstring")
	case "true":
		x.Boolean(true)
	case "false":
		x.Boolean(false)
	default:
		x.Error("ERR Wrong protocol type name. Please use one of the following: " + protocolTypes)
	}
}

// countToThree replies with the numbers 0 to 2, or with pairs of a number and whether it is 1.
func countToThree(x *call, pairs bool) {
	for i := range int64(3) {
		if x.Int(i); pairs {
			x.Boolean(i == 1)
		}
	}
}
