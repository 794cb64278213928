package resp

import (
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
		Settings: &s.settings.Quota, CountsUses: &s.settings.CountsUses, Log: s.log, Stop: s.stop,
	})
	s.done.Add(1)
	go func() {
		defer s.done.Done()
		s.quota.Run()
	}()
}

// refusedByQuota tells whether a request is refused since the data is over its limit.
func refusedByQuota(c *conn, cmd *command.Row, args [][]byte) bool {
	if !c.srv.quota.Refuses(store.Growth(c.unit)) {
		return false
	}
	if !cmd.KeysOfExec {
		return cmd.Flags&command.FlagDenyOOM != 0
	}
	_, cmds, _ := command.SplitExec(args)
	for _, words := range command.EachQueued(cmds) {
		if of, msg := c.srv.table.Lookup(words); msg == "" && of.Flags&command.FlagDenyOOM != 0 {
			return true
		}
	}
	return false
}

// refusedInQueue tells whether MULTI refuses to queue a command. Where there are other nodes, EXEC is
// judged by the one that runs it.
func refusedInQueue(c *conn, cmd *command.Row) bool {
	return cmd.Flags&command.FlagDenyOOM != 0 && c.srv.quota.Limits() && c.srv.servesAll() && c.srv.quota.Refuses(0)
}

// makeRoom evicts keys before the unit of some requests begins, if these may grow data that is over
// its limit. It returns false if they are to be gathered anew.
func makeRoom(c *conn, reqs []request) bool {
	if c.local.on || !c.srv.quota.WantsRoom() {
		return true
	}
	size := 0
	for i := range reqs {
		if r := &reqs[i]; r.msg == "" && (r.cmd.Flags&command.FlagDenyOOM != 0 || r.cmd.Script || r.cmd.KeysOfExec) {
			size += len(r.raw) + 1
		}
	}
	if size == 0 {
		return true
	}
	routes := c.routes
	c.leave()
	c.srv.quota.MakeRoom(int64(size))
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
		Batch: batch, Requests: len(keys), Early: true,
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
	case !v.Exists(), v.Expiry == 0 && x.srv.settings.Quota.Policy().IsVolatile():
		x.Int(0)
	default:
		x.Unit.Delete(key, v)
		x.Unit.Note(store.EventEvicted, "evicted", key)
		x.Int(1)
	}
}
