package wire

import "bytes"

// A web page can make a browser on this machine send HTTP requests to this port, with a
// body of its choice, and a server that fetches URLs for others can be made to do the
// same. Read as inline commands, the lines of the body would run. So a line that only
// another protocol sends ends the connection, without a reply and before any line after
// it is run, as in Redis.

// A ForeignError says which other protocol a client speaks. It ends the connection.
type ForeignError string

// Error implements error.
func (e ForeignError) Error() string { return "the client speaks " + string(e) }

const (
	// ErrHTTP: a line of an HTTP request was sent.
	ErrHTTP     ForeignError = "HTTP"
	errTLSHello ForeignError = "TLS"
)

// TLSHandshake is the first byte of a TLS connection. Parts of a TLS handshake can be
// chosen by another server and hold complete lines.
const TLSHandshake = 0x16

// isHTTP reports whether the words of an inline command are a line of an HTTP request:
// what Redis refuses (POST, Host:), or a request line with a protocol version. No command
// of three words has the name of an HTTP method, but for GET, which takes one argument.
func isHTTP(words [][]byte) bool {
	if len(words) == 0 {
		return false
	}
	if EqualFold(words[0], "post") || EqualFold(words[0], "host:") {
		return true
	}
	if len(words) != 3 || !bytes.HasPrefix(words[2], []byte("HTTP/")) {
		return false
	}
	for _, method := range [...]string{"get", "head", "put", "patch", "delete", "options", "connect", "trace"} {
		if EqualFold(words[0], method) {
			return true
		}
	}
	return false
}
