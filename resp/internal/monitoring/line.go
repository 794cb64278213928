package monitoring

import (
	"fmt"
	"net"
	"strings"
	"time"
)

// Script is in the place of a client's address in lines of the commands of scripts.
const Script = "lua"

// From returns the address of a client as lines show it.
func From(client net.Addr) string {
	from := client.String()
	if client.Network() == "unix" {
		from = "unix:" + strings.TrimSuffix(from, ":0")
	}
	return from
}

// Line is what MONITOR shows of a command: on a database, from a client.
func Line(now time.Time, database int, from string, args [][]byte) []byte {
	line := fmt.Appendf(nil, "+%d.%06d [%d %s]", now.Unix(), now.Nanosecond()/1000, database, from)
	for _, arg := range args {
		line = append(line, ' ')
		line = appendQuoted(line, arg)
	}
	return append(line, '\r', '\n')
}
