package resp

// Stands in for handlers that are still to come.

func cmdClientGetname(x *call)   { x.err("ERR not yet written") }
func cmdClientId(x *call)        { x.err("ERR not yet written") }
func cmdClientInfo(x *call)      { x.err("ERR not yet written") }
func cmdClientKill(x *call)      { x.err("ERR not yet written") }
func cmdClientList(x *call)      { x.err("ERR not yet written") }
func cmdClientNoEvict(x *call)   { x.err("ERR not yet written") }
func cmdClientPause(x *call)     { x.err("ERR not yet written") }
func cmdClientReply(x *call)     { x.err("ERR not yet written") }
func cmdClientSetinfo(x *call)   { x.err("ERR not yet written") }
func cmdClientSetname(x *call)   { x.err("ERR not yet written") }
func cmdClientUnpause(x *call)   { x.err("ERR not yet written") }
func cmdConfigGet(x *call)       { x.err("ERR not yet written") }
func cmdConfigResetstat(x *call) { x.err("ERR not yet written") }
func cmdConfigSet(x *call)       { x.err("ERR not yet written") }
func cmdDebug(x *call)           { x.err("ERR not yet written") }
func cmdInfo(x *call)            { x.err("ERR not yet written") }
func cmdLastsave(x *call)        { x.err("ERR not yet written") }
func cmdMonitor(x *call)         { x.err("ERR not yet written") }
func cmdQuit(x *call)            { x.err("ERR not yet written") }
func cmdReset(x *call)           { x.err("ERR not yet written") }
func cmdSelect(x *call)          { x.err("ERR not yet written") }
func cmdShutdown(x *call)        { x.err("ERR not yet written") }
func cmdSlowlogGet(x *call)      { x.err("ERR not yet written") }
func cmdSlowlogLen(x *call)      { x.err("ERR not yet written") }
func cmdSlowlogReset(x *call)    { x.err("ERR not yet written") }
func cmdTime(x *call)            { x.err("ERR not yet written") }
