package admin

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Libraries of functions, and modules: there are none. Clients that look for some, or clear
// them away, get the answers of a Redis without any.

func cmdFunctionDelete(x *command.Call) { x.Error("ERR Library not found") }

func cmdFunctionFlush(x *command.Call) {
	if len(x.Args) > 3 {
		x.WrongSubcommand("FUNCTION")
		return
	}
	if len(x.Args) == 3 && !wire.EqualFold(x.Args[2], "async") && !wire.EqualFold(x.Args[2], "sync") {
		x.Error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
		return
	}
	x.OK()
}

func cmdFunctionKill(x *command.Call) { x.Error("NOTBUSY No scripts in execution right now.") }

func cmdFunctionList(x *command.Call) {
	name, code := false, false
	for args := x.Args[2:]; len(args) > 0; args = args[1:] {
		switch {
		case !code && wire.EqualFold(args[0], "withcode"):
			code = true
		case !name && wire.EqualFold(args[0], "libraryname"):
			name = true
			if len(args) == 1 {
				x.Error("ERR library name argument was not given")
				return
			}
			args = args[1:]
		default:
			x.Error("ERR Unknown argument " + string(command.Shown(args[0], 128)))
			return
		}
	}
	x.Array(0)
}

func cmdFunctionStats(x *command.Call) {
	x.Map(2)
	x.BulkString("running_script")
	x.Null()
	x.BulkString("engines")
	x.Map(0)
}

func cmdModuleList(x *command.Call) { x.Array(0) }

const (
	msgNoFunctions = "ERR functions are not supported: keep scripts with the application, and call them by EVALSHA"
	msgNoModules   = "ERR modules are not supported"
)
