package node

import (
	"errors"
	"slices"

	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/node/internal/peerkey"
	"github.com/ringside-kv/ringside/resp/node/internal/values"
)

// A peerSecret names the secret that other nodes prove at the bus and in gossip.
type peerSecret string

const (
	// secretNone: clients of this machine need no secret either. Validate refuses it
	// for addresses that other hosts can reach.
	secretNone       peerSecret = "none"
	secretClusterKey peerSecret = "cluster-key"
	// secretCertificate: a certificate of the cluster's authority, and no key. With a key as well, nodes prove both.
	secretCertificate peerSecret = "cluster certificate"
	// secretPassword: a key derived from RequirePass. It serves loopback only: the
	// password may be weak, and CONFIG SET changes it for one node at a time.
	secretPassword peerSecret = "password"
	// secretFile: a random key in the data directory. Only a node that founds its own
	// cluster has it, since another node would have to be given it as its ClusterKey.
	secretFile peerSecret = "key file"
)

// peerSecret returns the kind of secret that the configuration leads to. The invariant:
// where clients need a password, TLS, a user or the permission of a file to do everything, other nodes need a secret.
func (c *Config) peerSecret() (peerSecret, error) {
	switch {
	case c.ClusterKey != "":
		return secretClusterKey, nil
	case c.provesCertificates():
		return secretCertificate, nil
	case c.RequirePass != "":
		return secretPassword, nil
	case c.TLSCert != "", c.socketGuards():
		return secretFile, nil
	}
	if guard, err := c.usersGuard(); err != nil || !guard {
		return secretNone, err
	}
	return secretFile, nil
}

// socketGuards reports whether clients connect to Unix sockets alone, of which at least one is not open to every
// user of the machine, as far as the configuration tells.
func (c *Config) socketGuards() bool {
	const everyUser = 0o002 // connecting to a Unix socket takes the permission to write
	return c.Addr == AddrOff && (c.UnixSocket != "" && c.UnixSocketMode&everyUser == 0 || c.UnixSocket == "" && len(c.Listeners) > 0)
}

// usersGuard reports whether the users that the node starts with keep anything from clients without a password:
// those that the directory knows of its cluster, or else those of the ACL file.
func (c *Config) usersGuard() (bool, error) {
	stored, err := values.Stored(c.Dir)
	if err != nil || stored == nil && c.ACLFile == "" {
		return false, err
	}
	open, err := resp.UnguardedAtStart(c.ACLFile, stored)
	return !open && err == nil, err
}

// peerKey returns the secret between nodes, and the key for the bus and for gossip; nil if there is none. It
// creates the key file if the configuration asks for one that does not exist.
func (c *Config) peerKey() (secret peerSecret, key []byte, err error) {
	if c.staysAlone() {
		return secretNone, nil, nil
	}
	switch secret, err = c.peerSecret(); secret {
	case secretClusterKey:
		key = []byte(c.ClusterKey)
	case secretPassword:
		key, err = peerkey.FromPassword(c.RequirePass, c.Cluster)
	case secretFile:
		key, err = peerkey.FromFile(c.Dir)
	}
	return secret, key, err
}

// peerKey is that of the configuration, made once: a password takes long.
func (n *Node) peerKey() (key []byte, err error) {
	if n.secret == "" {
		secret, key, err := n.cfg.peerKey()
		if err != nil {
			return nil, err
		}
		n.secret, n.key = secret, key
	}
	return n.key, nil
}

// changePassword decides whether clients may change the password at run time, and
// returns the step that does what else follows from it. The secret between nodes stays
// that of the start. Without a cluster-key, a node of several refuses the change, since
// the old password, or none, would go on to open its bus; a node that is alone accepts
// no other node from then on until it has its first password again.
func (n *Node) changePassword(password string) (apply func(), err error) {
	switch n.secret {
	case secretClusterKey, secretCertificate, secretFile:
		return func() {}, nil
	}
	if password == "" || password == n.cfg.RequirePass {
		return func() { n.passwordChanged.Store(false) }, nil
	}
	if !n.isAlone() {
		return nil, errPasswordBetweenNodes
	}
	return func() { n.passwordChanged.Store(true) }, nil
}

// guardUsers decides whether users may change so that clients without a password may no longer do everything.
// Nodes without a secret could go on to: several of them refuse the change, and one that is alone accepts no other
// node from then on. From its next start on, it has a key.
func (n *Node) guardUsers() error {
	if n.secret == secretNone && !n.isAlone() {
		return errUsersBetweenNodes
	}
	return nil
}

// isAlone reports whether no other node is in the cluster, as far as gossip knows.
func (n *Node) isAlone() bool {
	c := n.part.Load()
	return c == nil || !slices.ContainsFunc(c.members.Nodes(), func(m members.Node) bool { return m.ID != n.id && m.Status != members.Left })
}

var (
	errUsersBetweenNodes    = errors.New("the nodes of this cluster prove no secret to each other, and whatever connects as one of them may do everything: stop all of them and start them with cluster-key to guard the default user")
	errUsersChanged         = errors.New("the default user was changed at run time: restart the node, with cluster-key or for a key in bus.key, before others join it")
	errPasswordBetweenNodes = errors.New("the nodes of this cluster prove the password to each other: start all of them with cluster-key to change it at run time, or stop them all and start them with the new one")
	errPasswordChanged      = errors.New("the password was changed at run time: restart the node with cluster-key, or with the new requirepass, before others join it")
)

// admitPeers refuses other nodes while they could only prove a password that no longer
// holds, or none.
func (n *Node) admitPeers() error {
	switch {
	case n.passwordChanged.Load():
		return errPasswordChanged
	case n.secret == secretNone && !resp.Unguarded(n.server):
		return errUsersChanged
	}
	return nil
}
