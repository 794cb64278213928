package admin

import "github.com/ringside-kv/ringside/resp/internal/command"

// There are no modules. Clients that look for some get the answers of a Redis without any.

func cmdModuleList(x *command.Call) { x.Array(0) }

const msgNoModules = "ERR modules are not supported"
