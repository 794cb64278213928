package certs

import "slices"

// Settings are those of a node about certificates.
type Settings struct {
	Clients Files
	User    string // NoUser, ByName or ByURI
	Nodes   Files
	Mode    string // Require or Prefer
	Keyed   bool   // nodes prove a cluster key
}

// Validate reads the files, and tells fault of each fault with the name of its setting. Values of Mode are not its matter.
func (s Settings) Validate(fault func(setting, format string, args ...any)) {
	switch c := s.Clients; {
	case c.Cert != "" && c.Key == "":
		fault("tls-key", "missing: tls-cert needs the key of the certificate")
	case c.Cert == "" && c.Key != "":
		fault("tls-cert", "missing: tls-key needs the certificate of the key")
	case c.Cert == "" && c.CA != "":
		fault("tls-ca", "needs tls-cert and tls-key: it demands client certificates, which only TLS carries")
	case c.CA == "" && s.User != NoUser:
		fault("tls-auth-user", "needs tls-ca: without it, clients have no certificates")
	default:
		Load(c, fault)
	}
	whole := true
	for _, file := range []struct{ setting, path string }{{"cert", s.Nodes.Cert}, {"key", s.Nodes.Key}, {"ca", s.Nodes.CA}} {
		if file.path == "" && (s.Nodes != Files{Peers: true}) {
			whole = false
			fault(s.Nodes.Setting(file.setting), "missing: nodes need a certificate, its key and the authority of all nodes: cluster-tls-cert, cluster-tls-key and cluster-tls-ca")
		}
	}
	if s.Nodes.Names != "" && slices.Contains(splitNames(s.Nodes.Names), "") {
		whole = false
		fault(s.Nodes.Setting("name"), "a name of the list is empty: no certificate would match it")
	}
	switch {
	case s.Nodes.Cert == "" && whole && s.Mode == Prefer:
		fault("cluster-tls", "prefer needs cluster-tls-cert, cluster-tls-key and cluster-tls-ca")
	case whole && s.Mode == Prefer && !s.Keyed:
		fault("cluster-tls", "prefer needs cluster-key, the secret of nodes without a certificate; a new cluster needs none with require")
	case whole:
		Load(s.Nodes, fault)
	}
}

// Gossip reports whether gossip goes through TLS: where nodes have no key in common that could encrypt it.
func (s Settings) Gossip() bool { return s.BetweenNodes() == Require && !s.Keyed }

// BetweenNodes returns how nodes use certificates: Require, Prefer, or "off".
func (s Settings) BetweenNodes() string {
	if s.Nodes.Cert == "" {
		return "off"
	}
	return s.Mode
}
