package resp

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/psync"
)

// A session is what the server remembers of a client. The connection's goroutine
// owns it; what other goroutines show (CLIENT LIST) is atomic or under mu.
type session struct {
	id int64
	// user is who the client is. keepOpen: it changes users, and is told so before its own connection ends.
	user     atomic.Pointer[acl.User]
	keepOpen atomic.Bool
	authed   bool
	replies  replyMode
	// redirect: requests for other nodes' keys are answered with where to go.
	redirect bool
	// readonly: reads of keys of which this node has a copy are answered all the same.
	readonly bool
	// early: replies to writes need not wait for backups.
	early bool
	// atomic: see isAtomic.
	atomic bool
	// wasEarly: some replies may not have.
	wasEarly bool
	started  time.Duration // on the server's clock

	// tracking is set while the client is told what changes. Its own goroutine sets it.
	tracking atomic.Pointer[tracker]
	// redirects: the client reads keys of other nodes there alone. For other goroutines.
	redirects atomic.Bool

	database atomic.Int32 // chosen by SELECT
	noEvict  atomic.Bool
	noTouch  atomic.Bool // and so is the unit of the connection
	monitor  atomic.Bool
	watching atomic.Bool // the placement
	replica  atomic.Bool // it is one of Redis
	conf     psync.Conf  // REPLCONF
	waiting  atomic.Bool // held back by the server: a pause, a wrong password
	proto    atomic.Int32
	lastUsed atomic.Int64 // on the server's clock, ns
	lastCmd  atomic.Pointer[command.Row]
	commands atomic.Int64
	bytesIn  atomic.Int64
	bytesOut atomic.Int64

	mu      sync.Mutex
	name    string
	libName string
	libVer  string
}

// replyMode is what CLIENT REPLY has chosen.
type replyMode int

const (
	replyOn replyMode = iota
	replyOff
	replySkipNext // SKIP is the command that runs; its own reply is dropped, too
	replySkip     // the reply of this command is dropped
)

func (s *session) init(c *conn) {
	s.id = c.srv.nextID.Add(1)
	user := c.srv.users.Now().Default()
	s.user.Store(user)
	s.authed = needsNoLogin(c, user)
	s.redirect = c.srv.settings.Redirect.Load()
	s.started = c.srv.clock()
	s.lastUsed.Store(int64(s.started))
	s.proto.Store(2)
}

func (s *session) setName(name string) {
	s.mu.Lock()
	s.name = name
	s.mu.Unlock()
}

// terms are how the connection wants replies of other nodes.
func (c *conn) terms() Terms {
	return Terms{RESP3: c.out.Proto == 3, Early: c.session.early, NoTouch: c.session.noTouch.Load()}
}

// keepReply reports whether the reply that was just written is to be sent. Each
// command is to write one, even if it knows that it will be dropped.
func (s *session) keepReply() bool {
	switch s.replies {
	case replyOff:
		return false
	case replySkipNext:
		s.replies = replySkip
		return false
	case replySkip:
		s.replies = replyOn
		return false
	}
	return true
}

// authorized reports whether the client may run commands. The connection's own
// goroutine asks.
func (c *conn) authorized() bool {
	return c.session.authed || c.srv.users.Now().Default().Open()
}

// wait keeps the connection waiting for d, or until end is closed. It returns
// early when the client is gone or the server closes, and then false.
func (c *conn) wait(d time.Duration, end <-chan struct{}) bool {
	return c.waitUnless(c.srv.stop, d, end)
}

// waitOn is wait for a request that the server still carries out when it closes, until
// [Server.EndWaits].
func (c *conn) waitOn(d time.Duration, end <-chan struct{}) bool { return c.waitUnless(nil, d, end) }

func (c *conn) waitUnless(stop <-chan struct{}, d time.Duration, end <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	if !c.blocking { // or it counts as one that waits anyhow
		c.session.waiting.Store(true)
		c.srv.stats.Waiting.Add(1)
		defer func() {
			c.srv.stats.Waiting.Add(-1)
			c.session.waiting.Store(false)
			c.session.lastUsed.Store(int64(c.srv.clock()))
		}()
	}
	select {
	case <-timer.C:
	case <-c.srv.hurry:
	case <-end:
	case <-c.gone:
		return false
	case <-stop:
		return false
	}
	return true
}

// idle returns for how long the client has not sent a command, though it could.
func (s *session) idle(now time.Duration) time.Duration {
	if s.monitor.Load() || s.watching.Load() || s.waiting.Load() || s.replica.Load() {
		return 0
	}
	return now - time.Duration(s.lastUsed.Load())
}

// snapshot returns all connections in the order of their ids.
func (s *Server) snapshot() []*conn {
	s.mu.Lock()
	conns := make([]*conn, 0, len(s.conns))
	for _, c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	slices.SortFunc(conns, func(a, b *conn) int { return cmp.Compare(a.session.id, b.session.id) })
	return conns
}

// newRunID returns 40 random hex digits, as Redis' run_id.
func newRunID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
