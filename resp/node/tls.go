package node

import (
	"errors"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/resp/node/internal/certs"
	"github.com/ringside-kv/ringside/resp/node/internal/tlsgossip"
)

func (c *Config) tls() certs.Settings {
	return certs.Settings{
		Clients: certs.Files{Cert: c.TLSCert, Key: c.TLSKey, CA: c.TLSCA}, User: c.TLSUser,
		Nodes: certs.Files{Cert: c.ClusterTLSCert, Key: c.ClusterTLSKey, CA: c.ClusterTLSCA, Peers: true, Names: c.ClusterTLSName},
		Mode:  c.ClusterTLS, Keyed: c.ClusterKey != "",
	}
}

// loadTLS loads the certificates that clients are met with, and those for other nodes; nil for those that are not set.
// The error joins one [*Fault] for each fault.
func (c *Config) loadTLS() (clients, nodes *certs.Loaded, err error) {
	var f faults
	s := c.tls()
	clients, nodes = certs.Load(s.Clients, f.add), certs.Load(s.Nodes, f.add)
	return clients, nodes, errors.Join(f...)
}

// provesCertificates reports whether nothing connects as another node without a certificate of the cluster's authority.
func (c *Config) provesCertificates() bool { return c.tls().BetweenNodes() == certs.Require }

// gossipNetwork is where the node gossips.
func (n *Node) gossipNetwork() members.Network {
	if !n.cfg.tls().Gossip() {
		return n.cfg.env.Gossip()
	}
	return &tlsgossip.Network{Under: n.cfg.env.Gossip(), Client: n.nodeTLS.Client, Server: n.nodeTLS.Config, Logger: n.cfg.Logger}
}

// busTLS is what secures the bus; nil without certificates.
func (n *Node) busTLS() *bus.TLS {
	if n.cfg.ClusterTLSCert == "" {
		return nil
	}
	return &bus.TLS{Client: n.nodeTLS.Client, Server: n.nodeTLS.Config, Optional: !n.cfg.provesCertificates()}
}
