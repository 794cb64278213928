package resp

import (
	"bytes"
	"net"
	"sync/atomic"
	"time"
)

// A web page can make a browser on this machine send HTTP requests to this port, with a
// body of its choice, and a server that fetches URLs for others can be made to do the
// same. Read as inline commands, the lines of the body would run. So a line that only
// another protocol sends ends the connection, without a reply and before any line after
// it is run, as in Redis.

// A foreignError says which other protocol a client speaks. It ends the connection.
type foreignError string

func (e foreignError) Error() string { return "the client speaks " + string(e) }

const (
	errHTTP     foreignError = "HTTP"
	errTLSHello foreignError = "TLS"
)

// tlsHandshake is the first byte of a TLS connection. Parts of a TLS handshake can be
// chosen by another server and hold complete lines.
const tlsHandshake = 0x16

// isHTTP reports whether the words of an inline command are a line of an HTTP request:
// what Redis refuses (POST, Host:), or a request line with a protocol version. No command
// of three words has the name of an HTTP method, but for GET, which takes one argument.
func isHTTP(words [][]byte) bool {
	if len(words) == 0 {
		return false
	}
	if equalFold(words[0], "post") || equalFold(words[0], "host:") {
		return true
	}
	if len(words) != 3 || !bytes.HasPrefix(words[2], []byte("HTTP/")) {
		return false
	}
	for _, method := range [...]string{"get", "head", "put", "patch", "delete", "options", "connect", "trace"} {
		if equalFold(words[0], method) {
			return true
		}
	}
	return false
}

// foreignEvery is how often connections of other protocols are logged.
const foreignEvery = time.Minute

// foreignLog limits what is logged of other protocols: clients choose how often they
// connect.
type foreignLog struct {
	last  atomic.Int64 // on the server's clock; 0: none yet
	since atomic.Int64 // connections that were not logged
}

func (s *Server) reportForeign(from net.Addr, err foreignError) {
	now := int64(s.clock()) + 1
	last := s.foreign.last.Load()
	if last != 0 && now-last < int64(foreignEvery) || !s.foreign.last.CompareAndSwap(last, now) {
		s.foreign.since.Add(1)
		return
	}
	s.log.Warn("connection ended: the client speaks another protocol at the port for Redis clients, perhaps because a web page or another server was made to send it commands",
		"protocol", string(err), "client", from.String(), "unlogged_before", s.foreign.since.Swap(0))
}
