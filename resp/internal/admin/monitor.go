package admin

import (
	"fmt"
	"net"
	"strings"
	"time"
)

// MonitorLine is what MONITOR shows of a command: on a database, and from a client, nil for a script.
func MonitorLine(now time.Time, database int, client net.Addr, args [][]byte) []byte {
	from := "lua"
	if client != nil {
		from = client.String()
		if client.Network() == "unix" {
			from = "unix:" + strings.TrimSuffix(from, ":0")
		}
	}
	line := fmt.Appendf(nil, "+%d.%06d [%d %s]", now.Unix(), now.Nanosecond()/1000, database, from)
	for _, arg := range args {
		line = append(line, ' ')
		line = AppendQuoted(line, arg)
	}
	return append(line, '\r', '\n')
}
