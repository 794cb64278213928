package psync

import (
	"strconv"
	"strings"
	"sync"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A Conf is what a connection has said by REPLCONF before PSYNC. The zero value has said nothing. Its methods may be
// called from any goroutine.
type Conf struct {
	mu   sync.Mutex
	host string // where clients reach the replica; empty: where it connects from
	port int
	eof  bool // it reads files whose length is not known before
	any  bool // it reads values of every RDB version and of modules
	want Content
}

// A Content is what a replica wants of a full synchronization. The zero value wants all of it.
type Content struct {
	FileOnly    bool // and no stream behind the file, as redis-cli --rdb does
	NoKeys      bool
	NoFunctions bool
}

// CapaAnyValue is a capability that importers of Ringside announce by REPLCONF capa: they read values of every RDB
// version and of modules, so the file may hold all of them. Other servers ignore a capability that they do not know.
const CapaAnyValue = "ringside-any-value"

// Set takes the words of REPLCONF, and returns an error reply, or "".
func (c *Conf) Set(words [][]byte) (refusal string) {
	if len(words)%2 == 0 {
		return "ERR syntax error"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := 1; i < len(words); i += 2 {
		name, value := words[i], string(words[i+1])
		switch {
		case wire.EqualFold(name, "listening-port"):
			port, err := strconv.ParseUint(value, 10, 16)
			if err != nil {
				return "ERR value is not an integer or out of range"
			}
			c.port = int(port)
		case wire.EqualFold(name, "ip-address"):
			if len(value) > maxHost {
				return "ERR REPLCONF ip-address provided by replica instance is too long: " + strconv.Itoa(len(value)) + " bytes"
			}
			c.host = value
		case wire.EqualFold(name, "capa"):
			c.eof = c.eof || strings.EqualFold(value, "eof")
			c.any = c.any || strings.EqualFold(value, CapaAnyValue)
		case wire.EqualFold(name, "rdb-only"):
			only, err := strconv.ParseUint(value, 10, 64)
			if err != nil || only > 1 {
				return "ERR value is out of range, must be between 0 and 1"
			}
			c.want.FileOnly = only == 1
		case wire.EqualFold(name, "rdb-filter-only"):
			c.want.NoKeys, c.want.NoFunctions = true, true
			for _, part := range strings.Fields(value) {
				if !strings.EqualFold(part, "functions") {
					return "ERR Unsupported rdb-filter-only option: " + part
				}
				c.want.NoFunctions = false
			}
		case wire.EqualFold(name, "ack"), wire.EqualFold(name, "getack"), wire.EqualFold(name, "version"):
			// They say nothing of use before PSYNC.
		default:
			return "ERR Unrecognized REPLCONF option: " + string(name)
		}
	}
	return ""
}

// maxHost is the length of the longest name of a host, as in Redis.
const maxHost = 255

func (c *Conf) get() (host string, port int, eof bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.host, c.port, c.eof
}

// content returns what the replica wants.
func (c *Conf) content() Content {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.want
}

// readsAny reports whether the replica has announced CapaAnyValue.
func (c *Conf) readsAny() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.any
}
