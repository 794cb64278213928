package node

import "github.com/ringside-kv/ringside/resp/node/internal/hostport"

// An Exposure says how far a node is open to other hosts.
type Exposure int

// How far a node is open.
const (
	ExposureNone    Exposure = iota // loopback only, or a password or TLS in front
	ExposureRefused                 // beyond loopback, but protected mode refuses other hosts
	ExposureOpen                    // beyond loopback with nothing in front
)

// Exposure says whether Addr lies beyond loopback without a password or TLS, and
// whether protected mode then refuses clients of other hosts. A host name counts
// as beyond loopback unless it is localhost.
func (c Config) Exposure() Exposure {
	host, _, err := hostport.Split(c.Addr)
	if err != nil || hostport.IsLoopback(host) || c.RequirePass != "" || c.TLSCert != "" {
		return ExposureNone
	}
	if c.ProtectedMode {
		return ExposureRefused
	}
	return ExposureOpen
}
