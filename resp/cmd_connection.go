package resp

func cmdPing(x *call) {
	switch len(x.args) {
	case 1:
		x.simple("PONG")
	case 2:
		x.bulk(x.args[1])
	default:
		x.err("ERR wrong number of arguments for 'ping' command")
	}
}

func cmdEcho(x *call) { x.bulk(x.args[1]) }
