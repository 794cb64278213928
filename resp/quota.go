package resp

import (
	"strconv"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/quota"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// The limit of the node's data (maxmemory): the owner of a key judges writes, and evicts keys.

// startQuota makes the quota and starts its evictor, which ends with the server.
func startQuota(s *Server) {
	s.quota = quota.New(quota.Config{
		Store: s.store, Spans: s.ownSpans, Evict: func(keys [][]byte) int { return evict(s, keys) },
		IsTogether: func(n int) bool { p := s.policies().Of(n); return p.Together || p.Moving },
		Settings:   &s.settings.Quota, CountsUses: &s.settings.CountsUses, Log: s.log, Stop: s.stop,
	})
	s.done.Go(s.quota.Run)
}

// quotaDatabase returns the data whose quota a request is judged by: that of the first stored key that it writes,
// as the copy that COPY makes in another database.
func quotaDatabase(c *conn, cmd *command.Row, args [][]byte) int {
	if cmd.KeysOfExec {
		grows := func(cmd *command.Row, _ [][]byte) bool { return cmd.Flags&command.FlagDenyOOM != 0 }
		if of, words := c.srv.table.FindQueued(args, grows); of != nil {
			return quotaDatabase(c, of, words)
		}
	}
	if at := cmd.FirstWritten(args); at > 0 {
		return database.Of(args[at])
	}
	return c.srv.policies().Data(databaseOf(c))
}

// refusedByQuota reports whether a request is refused because data exceeds its limit.
func refusedByQuota(c *conn, cmd *command.Row, args [][]byte) bool {
	growth := store.Growth(c.unit)
	refused := func(cmd *command.Row, args [][]byte) bool {
		return cmd.Flags&command.FlagDenyOOM != 0 && c.srv.quota.Refuses(quotaDatabase(c, cmd, args), growth) ||
			movesBeyondQuota(c, cmd, args)
	}
	if cmd.KeysOfExec {
		found, _ := c.srv.table.FindQueued(args, refused)
		return found != nil
	}
	return refused(cmd, args)
}

// movesBeyondQuota reports whether a command is MOVE to a database that exceeds its own quota. The data of the node
// stays the same.
func movesBeyondQuota(c *conn, cmd *command.Row, args [][]byte) bool {
	return cmd.Moves && len(args) > 3 && c.srv.quota.RefusesOwn(database.Of(args[3]), store.Growth(c.unit))
}

// outOfRoom reports whether a command on stored keys is refused by a quota.
func (h *scriptHost) outOfRoom(cmd *command.Row, args [][]byte, wrote bool) bool {
	if cmd.Flags&command.FlagDenyOOM == 0 {
		return movesBeyondQuota(h.call.conn, cmd, args)
	}
	data := h.call.conn.routes.policies().Data(h.call.scriptDatabase)
	if at := cmd.FirstWritten(args); at > 0 && at < len(args) {
		data = database.Of(args[at])
	}
	return h.room.Refuses(data, wrote)
}

// refusedInQueue returns why MULTI refuses to queue a request, or "".
func refusedInQueue(c *conn, r *request) string {
	if r.cmd.Flags&command.FlagWrite == 0 {
		return ""
	}
	data, owner, routes := c.srv.policies().Data(databaseOf(c)), int32(ownerSelf), c.srv.routes.Load()
	if routes != nil && !c.srv.servesAll() {
		owner = ownerNone // of no key: EXEC will be judged by the node that runs it
		if keys, err := r.cmd.KeysOf(c.args[r.first:r.last], c.keys[:0]); err == nil && len(keys) > 0 {
			owner = routes.of(c.unit.Place(c.args[r.first+keys[0].Pos]).Token())
		}
	} else if err := c.writable(r.cmd, nil); err != nil {
		return command.ErrorText(err)
	}
	if r.cmd.Flags&command.FlagDenyOOM != 0 && c.srv.quota.Limits() && c.multi.isFull(c, routes, owner, data) {
		return command.MsgOOM
	}
	return ""
}

// isFull reports whether an owner of keys refuses writes to a database. Another node is asked once in a
// transaction; what it does not answer, EXEC will find out.
func (m *multi) isFull(c *conn, routes *Routes, owner int32, data int) bool {
	if owner == ownerSelf {
		return c.srv.quota.Refuses(data, 0)
	}
	if owner < 0 {
		return false
	}
	at := [2]string{routes.links[owner].ID, strconv.Itoa(data)}
	full, asked := m.full[at]
	if !asked {
		b := batch{link: routes.links[owner], bytes: ringRequest("FULL", at[1]), requests: 1}
		b.send(Terms{}, publishTimeout, nil)
		reply, err := b.reply()
		full = err == nil && string(reply) == ":1\r\n"
		if m.full == nil {
			m.full = make(map[[2]string]bool)
		}
		m.full[at] = full
	}
	return full
}

// cmdRingFull replies whether this node refuses writes to a database that is at its quota.
func cmdRingFull(x *call) {
	data, _ := strconv.Atoi(string(x.Args[2]))
	x.Int(int64(admin.Bit(x.srv.quota.Refuses(data, 0))))
}

// makeRoom evicts keys before the unit of some requests begins, if these may grow data that is over
// its limit. It returns false if they are to be gathered anew.
func makeRoom(c *conn, reqs []request) bool {
	if c.local.on || !c.srv.quota.WantsRoom() {
		return true
	}
	sizes := make(map[int]int64)
	for i := range reqs {
		if r := &reqs[i]; r.msg == "" && (r.cmd.Flags&command.FlagDenyOOM != 0 || r.cmd.Script || r.cmd.KeysOfExec) {
			sizes[quotaDatabase(c, r.cmd, c.args[r.first:r.last])] += int64(len(r.raw) + 1)
		}
	}
	if len(sizes) == 0 {
		return true
	}
	routes := c.routes
	c.leave()
	for n, size := range sizes {
		c.srv.quota.MakeRoom(n, size)
	}
	return c.reenter(routes)
}

// evict has keys of this node deleted, each by a request as another node would forward it, so that all
// that holds for writes holds for them.
func evict(s *Server, keys [][]byte) (evicted int) {
	var batch []byte
	for _, key := range keys {
		batch = append(batch, wire.SubRequest("RING", "EVICT", key)...)
	}
	done := make(chan struct{})
	s.RunForwarded([]Forwarded{{
		Batch: batch, Requests: len(keys), Early: true, Known: s.routes.Load().known(),
		Answer: func(replies Replies, err error) {
			defer close(done)
			if err != nil {
				return
			}
			for i, from := 0, 0; i < len(replies.Ends); i, from = i+1, replies.Ends[i] {
				if n, ok := wire.ReplyInt(replies.Bytes[from:replies.Ends[i]]); ok {
					evicted += int(n)
				}
			}
		},
	}}, nil)
	<-done
	return evicted
}

// cmdRingEvict deletes a key that was chosen a moment ago. It replies 1, or 0 if the key may not be
// evicted any more.
func cmdRingEvict(x *call) {
	key := x.Args[2]
	v, err := x.Unit.Head(key)
	switch {
	case err != nil:
		x.Abort(err)
	case !v.Exists(), !x.srv.quota.MayEvict(database.Of(key), v.Expiry != 0):
		x.Int(0)
	default:
		x.Unit.Delete(key, v)
		x.Unit.Note(store.EventEvicted, "evicted", key)
		x.Int(1)
	}
}
