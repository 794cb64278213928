package resp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/audit"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/pubsub"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/resp/script"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Who a connection is, and what it may do; the rules are in internal/acl. The node of the client checks: other
// nodes run what it forwards. Only the commands of scripts are checked where they run, and commands that wait where
// they are served, for the user that RING AS names in front of the request.
//
// Invariant: a request is run by rights that its connection has looked up since the request before it.

// openUsers sets up the users of a server, and gives it the default one.
func openUsers(s *Server, cfg *Config) error {
	r := &s.users
	r.Catalog, r.Logger, r.File = acl.NewCatalog(s.table), cfg.Logger, cfg.ACLFile
	if cfg.Operator != nil {
		r.Agree = cfg.Operator.Agree
	}
	r.Changed = func(before, now *acl.Users) { usersChanged(s, before, now) }
	r.Anywhere = func() bool { return s.admin.Config.Find([]byte("acl-pubsub-default")).Get() == "allchannels" }
	r.Guard, r.Confirm = cfg.Guard, func(index uint64) { confirmUsers(s, index) }
	if err := r.Open(cfg.Settings.Password); err != nil {
		return fmt.Errorf("read the users: %w", err)
	}
	if r.Agree == nil {
		return r.LoadAtStart(context.Background())
	}
	return nil
}

// Unguarded reports whether a client without a password may do everything.
func Unguarded(s *Server) bool { return s.users.Now().Unguarded() }

// NeedsPassword reports whether a client must send a password to become a user. It is true for a user who does not
// exist.
func NeedsPassword(s *Server, user string) bool {
	u := s.users.Now().Get(user)
	return u == nil || !u.NeedsNoPassword()
}

// UnguardedAtStart is [Unguarded] for a server that is to start with an ACL file, or none, and with agreed values.
func UnguardedAtStart(aclFile string, values *agreed.Values) (bool, error) {
	return acl.UnguardedAtStart(catalog(), aclFile, values)
}

var catalog = sync.OnceValue(func() *acl.Catalog { return acl.NewCatalog(newCommandTable()) })

// SetValues tells the server what a cluster of a generation has agreed on, as of an index of its table. What is
// older than what the server knows is ignored.
func (s *Server) SetValues(values *agreed.Values, generation, index uint64) {
	s.users.Set(values, generation, index)
	s.quota.Agreed(values)
	s.settings.Chunks.Store(values.Of(agreed.ListsName).Version != 0)
}

// LoadUsers has the users of the ACL file agreed on, if nothing is agreed on yet. It is for the start of a node, once
// that is part of a cluster. It fails while the cluster takes no changes.
func LoadUsers(ctx context.Context, s *Server) error { return s.users.LoadAtStart(ctx) }

// loadUser looks up what the client may do now. The connection of a user that is not there any more ends.
func loadUser(c *conn) {
	c.users = c.srv.users.Now()
	now := c.users.Get(c.session.userName())
	if now == nil {
		c.closing, c.rules = true, c.session.user.Load()
		return
	}
	c.session.user.Store(now)
	if _, own := c.net.(ownConn); own || now.Unrestricted() {
		c.rules = nil
		return
	}
	c.rules = now
}

// rightsChanged reports whether users have changed since the connection looked up what its client may do.
func rightsChanged(c *conn) bool { return c.from == nil && c.users != c.srv.users.Now() }

// reloadUser looks at requests once more that were resolved for earlier rights.
func reloadUser(c *conn, reqs []request) {
	before := c.session.user.Load()
	loadUser(c)
	c.stored = databaseOf(c)
	for i := range reqs {
		switch r := &reqs[i]; {
		case r.sent != nil:
		case r.progress != nil: // it keeps its keys, and its place in their queues
			deny(c, r)
		case r.cmd == nil || !r.cmd.Between:
			r.toWritten()
			r.denied = acl.Denial{}
			c.resolve(r, nil)
		// A transaction that has not found its keys yet:
		case r.msg == "" && before != c.session.user.Load():
			r.msg = acl.Denial{}.ExecText()
		case r.msg == "" && r.cmd.MayWrite && !mayWrite(c, c.users):
			r.msg = command.Rejection(c.srv.table.ByName["exec"], scripts.MsgAtReplica)
		}
	}
}

// setUser makes the client another user.
func setUser(c *conn, u *acl.User) {
	c.session.user.Store(u)
	c.users = nil
}

func (s *session) userName() string { return s.user.Load().Name() }

// deny refuses a request that the client may not make.
func deny(c *conn, r *request) {
	if r.msg != "" || c.from != nil {
		return
	}
	if c.rules != nil {
		call := acl.Call{Row: r.cmd, Args: c.args[r.first:r.last], Stored: r.stored}
		if r.denied, c.keys = c.rules.Check(&call, c.keys); r.denied.Reason != acl.Allowed {
			r.msg = r.denied.Text(r.cmd, c.rules.Name())
		}
	}
	if r.msg == "" && !mayWrite(c, c.users) {
		refuseAtReplica(c, r)
	}
}

// mayWrite reports whether a client may write. What copies from a former primary never may.
func mayWrite(c *conn, users *acl.Users) bool {
	if own, is := c.net.(ownConn); is {
		return own.copies == 0 || own.copies == users.Replica().Version
	}
	return users.MayWrite()
}

// hasLostWrites reports whether the client of a command that takes several steps may not write any more.
func hasLostWrites(c *conn) bool { return c.from == nil && !mayWrite(c, c.srv.users.Now()) }

// noteDenied notes a request that was refused.
func noteDenied(c *conn, user string, d acl.Denial, call *acl.Call, context string) {
	if d.Reason == acl.Allowed || !d.Logged() {
		return
	}
	noteRefused(c, audit.Refused, call.Row.Full, acl.Entry{Reason: d.LogReason(), Context: context, Object: d.LogObject(call), User: user})
}

// noteRequest notes a request that was refused, once. It is the last command of its client all the same.
func noteRequest(c *conn, r *request, context string) {
	if r.cmd != nil {
		c.session.lastCmd.Store(cmp.Or(r.cmd.As, r.cmd))
	}
	if r.denied.Reason != acl.Allowed {
		noteDenied(c, c.session.userName(), r.denied, &acl.Call{Row: r.cmd, Args: c.args[r.first:r.last], Stored: r.stored}, context)
		r.denied = acl.Denial{}
	}
}

// noteLogin notes a wrong password.
func noteLogin(x *call, name []byte) {
	context := "toplevel"
	if x.InTransaction {
		context = "multi"
	}
	noteRefused(x.conn, audit.Auth, x.Row.Full, acl.Entry{Reason: "auth", Context: context, Object: string(x.Args[0]), User: string(name)})
}

func noteRefused(c *conn, kind audit.Kind, command string, e acl.Entry) {
	noteAudit(c, audit.Event{Kind: kind, User: e.User, Command: command, Reason: e.Reason})
	most, _ := strconv.ParseInt(c.srv.admin.Config.Find([]byte("acllog-max-len")).Get(), 10, 64)
	e.At, e.Client = time.Now(), adminClient{c}.Describe()
	c.srv.users.Log.Add(e, most)
}

// noteAudit writes an event of a client to the audit log.
func noteAudit(c *conn, e audit.Event) {
	if c.srv.audit != nil {
		e.Client, e.ID = c.net.RemoteAddr().String(), c.session.id
		c.srv.audit.Note(e)
	}
}

// denyQueued looks at the commands of a transaction once more: those that are not allowed any more reply why.
func denyQueued(c *conn) {
	m := &c.multi
	m.as = ""
	if c.rules == nil {
		return
	}
	var args [][]byte
	for i := range m.cmds {
		q := &m.cmds[i]
		args = m.argsOf(i, args[:0])
		row := q.cmd
		if row.As != nil { // RING MOVE stands for MOVE, with two stored keys
			row = row.As
			args = [][]byte{[]byte(row.Name), args[2], args[3]}
		}
		if row.Script {
			m.as = c.session.userName()
		}
		if q.denied != "" {
			continue
		}
		call := acl.Call{Row: row, Args: args, Stored: true}
		d, _ := c.rules.Check(&call, nil)
		if d.Reason != acl.Allowed {
			q.here, q.denied = true, d.ExecText()
			noteDenied(c, c.session.userName(), d, &call, "multi")
		}
	}
}

// rights are those of the user that a script runs for; nil if it may do everything.
func rights(x *call) *acl.User {
	if x.conn.from != nil {
		return x.req.as
	}
	return x.conn.rules
}

// rightOf returns what a command that begins to wait has to be allowed when it is served.
func rightOf(x *call) acl.Right {
	c := x.conn
	user := c.session.user.Load()
	if c.from != nil {
		user = x.req.as
	} else if _, own := c.net.(ownConn); own {
		user = nil
	}
	return acl.Right{User: user, Of: &c.srv.users}
}

// namesUser reports whether a request to another node names its user: that node checks the commands of a script, and
// a command that waits when it is served.
func namesUser(c *conn, r *request) bool {
	_, own := c.net.(ownConn)
	return r.cmd != nil && (c.rules != nil && r.cmd.Script || r.waits && c.from == nil && !own)
}

// unwrap takes RING AS off a request.
func unwrap(c *conn, r *request) {
	for r.msg == "" && r.cmd.Between && r.cmd.Full == "ring|as" {
		name := string(c.args[r.first+2])
		if r.as = c.srv.users.Now().Get(name); r.as == nil {
			r.as = acl.NewUser(c.srv.users.Catalog, name, false) // it was removed meanwhile
		}
		r.first += asWords
		r.cmd, r.msg = c.srv.table.Lookup(c.args[r.first:r.last])
	}
}

// asWords is how many words RING AS takes in front of a request.
const asWords = 3

// appendAs appends them.
func appendAs(b []byte, user string) []byte {
	return wire.AppendBulkString(wire.AppendBulkString(wire.AppendBulkString(b, "RING"), "AS"), user)
}

// cmdRingAs is never run: what it stands in front of is.
func cmdRingAs(x *call) { x.Error(command.MsgSyntax) }

// refuseAtReplica refuses what a client may not do while the cluster is a replica of another server: to write, and to read
// while the copy does not follow, if the settings say so. A script that does not say that it writes runs as one that may
// not.
func refuseAtReplica(c *conn, r *request) {
	var named scripts.Named
	if r.cmd.Script {
		named = namedBy(c, r, true)
	}
	switch ro := readOnlyOf(c, r); {
	case r.cmd.Script && r.cmd.MayWrite && ro != nil && named.MayOnlyRead():
		r.cmd, r.atCopy = ro, true
	case r.cmd.MayWrite:
		r.msg = scripts.MsgAtReplica
		return
	}
	if hidesStale(c.srv) && (r.cmd.Flags&command.FlagStale == 0 || named.Flagged && named.Flags&script.AllowStale == 0) {
		r.msg = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
	}
}

// hidesStale reports whether clients may not read now since this node copies from another server and does not follow it.
func hidesStale(s *Server) bool {
	return s.follower.Stale() && s.admin.Config.Find([]byte("replica-serve-stale-data")).Get() == "no"
}

// usersChanged ends the connections of users that are gone, and those with subscriptions that are not allowed
// any more. One that has ordered it ends after its reply.
func usersChanged(s *Server, before, now *acl.Users) {
	s.follower.Agreed(now.Replica())
	lost := now.LostChannels(before)
	for _, c := range s.snapshot() {
		name := c.session.userName()
		u := now.Get(name)
		if (u == nil || lost[name] && !mayListen(c, u)) && !c.session.keepOpen.Load() {
			c.close()
		}
	}
}

// mayListen reports whether a user may have the subscriptions of a connection.
func mayListen(c *conn, u *acl.User) bool {
	for _, kind := range []pubsub.Kind{pubsub.Channel, pubsub.Pattern, pubsub.Shard} {
		if !u.MayHear(c.srv.pubsub.NamesOf(&c.subs, kind), kind == pubsub.Pattern) {
			return false
		}
	}
	return true
}

// confirmTimeout is how long a change of users waits for other nodes. One that does not answer loses its lease soon.
const confirmTimeout = time.Second

// confirmUsers waits until all nodes that seem to be there go by the users of an index.
func confirmUsers(s *Server, index uint64) {
	routes := s.routes.Load()
	if routes == nil || index == 0 {
		return
	}
	question := wire.SubRequest("RING", "USERS", strconv.AppendUint(nil, index, 10))
	missing, err := tellPeers(routes.peers, question, confirmTimeout)
	for _, peer := range missing {
		s.log.Warn("a node has not confirmed a change of users yet", "node", peer.ID, "err", err)
	}
}

// tellPeers sends a request to some nodes. It returns those that do not carry it out in time, and why one does not.
func tellPeers(peers []*Route, request []byte, timeout time.Duration) (missing []*Route, why error) {
	batches := make([]batch, len(peers))
	for i, peer := range peers {
		batches[i] = batch{link: peer, bytes: request, requests: 1}
		batches[i].send(Terms{}, timeout, nil)
	}
	for i := range batches {
		reply, err := batches[i].reply()
		if line, refused := wire.ErrorLine(reply); err == nil && refused {
			err = errors.New(line)
		}
		if err != nil {
			missing, why = append(missing, peers[i]), err
		}
	}
	return missing, why
}

// cmdRingUsers waits until this node goes by the users of an index.
func cmdRingUsers(x *call) {
	index, ok := wire.ParseInt(x.Args[2])
	if !ok || index < 0 {
		x.Error(command.MsgNotInteger)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), confirmTimeout)
	defer cancel()
	if !x.srv.users.Await(ctx, uint64(index)) {
		x.Error("TRYAGAIN this node does not know the change yet")
		return
	}
	x.OK()
}
