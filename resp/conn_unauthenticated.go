package resp

import (
	"container/list"
	"context"
	"iter"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/internal/memconn"
	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/audit"
)

// unauthenticated are the connections whose clients have not shown yet that they may send commands:
// their TLS handshake is not over, or a password is missing. They are closed after a time, and
// the oldest of them makes room for a new connection when there are max-clients: so silent
// connections keep nobody out who knows the password or has a certificate.
//
// Connections join and leave at their begin, at AUTH and RESET and at their end only.
type unauthenticated struct {
	mu    sync.Mutex
	conns list.List // of unauthenticatedConn, oldest first
}

type unauthenticatedConn struct {
	*conn
	since time.Duration // on the server's clock
}

// handshakeTimeout is how long the TLS handshake of a client may take.
const handshakeTimeout = 10 * time.Second

// add enters a connection, unless it is there.
func (u *unauthenticated) add(c *conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c.unauthenticated == nil {
		c.unauthenticated = u.conns.PushBack(unauthenticatedConn{c, c.srv.clock()})
	}
}

// remove takes a connection out, if it is there.
func (u *unauthenticated) remove(c *conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c.unauthenticated != nil {
		u.conns.Remove(c.unauthenticated)
		c.unauthenticated = nil
	}
}

// evict closes the oldest connection, and tells whether there was one.
func (u *unauthenticated) evict(s *Server) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for e := range u.each(s) {
		if u.close(s, e) {
			return true
		}
	}
	return false
}

// expire closes the connections that have taken longer than auth-timeout.
func (u *unauthenticated) expire(s *Server) {
	limit := time.Duration(s.settings.AuthTimeout.Load())
	if limit == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for e := range u.each(s) {
		if s.clock()-e.Value.(unauthenticatedConn).since < limit {
			return
		}
		u.close(s, e)
	}
}

// each goes over the connections, oldest first. It leaves out those that need no password any
// more, since CONFIG SET has taken it away. The caller holds mu, and may remove what it gets.
func (u *unauthenticated) each(s *Server) iter.Seq[*list.Element] {
	return func(yield func(*list.Element) bool) {
		for e, next := u.conns.Front(), (*list.Element)(nil); e != nil; e = next {
			next = e.Next()
			if s.users.Now().Default().Open() && e.Value.(unauthenticatedConn).tlsDone.Load() {
				continue
			}
			if !yield(e) {
				return
			}
		}
	}
}

// close closes a connection of the list, and tells whether it was open. The caller holds mu.
func (u *unauthenticated) close(s *Server, e *list.Element) bool {
	c := u.conns.Remove(e).(unauthenticatedConn).conn
	c.unauthenticated = nil
	if !c.close() {
		return false
	}
	s.stats.Unauthenticated.Add(1)
	return true
}

// needsNoLogin reports whether a client that begins as a user may send commands without a password: the user has
// none, or the client is a part of this process.
func needsNoLogin(c *conn, u *acl.User) bool {
	return u.Open() || memconn.IsLocal(c.net.RemoteAddr())
}

// loginByCertificate makes the client the user that its certificate stands for, if there is one.
func loginByCertificate(c *conn) {
	certificates := c.secure.ConnectionState().PeerCertificates
	if len(certificates) == 0 || c.srv.cfg.CertUsers == nil {
		return
	}
	users := c.srv.users.Now()
	for _, name := range c.srv.cfg.CertUsers(certificates[0]) {
		if user := users.Get(name); user != nil && user.Enabled() {
			setUser(c, user)
			c.session.authed = true
			noteAudit(c, audit.Event{Kind: audit.Auth, OK: true, User: name, Command: "certificate"})
			return
		}
	}
}

// tlsHandshake runs the TLS handshake. It returns false if that fails, or takes too long.
func (c *conn) tlsHandshake() bool {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	if c.secure.HandshakeContext(ctx) != nil {
		return false
	}
	c.tlsDone.Store(true)
	loginByCertificate(c)
	if c.session.authed {
		c.srv.unauthenticated.remove(c)
	}
	return true
}
