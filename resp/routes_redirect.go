package resp

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/outcome"
	"github.com/ringside-kv/ringside/resp/internal/placement"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// The nodes learn of a change one after the other. A node that a range has just been
// handed to may not know of it yet, while the one that had it does: if each told a client
// by what it knows, they would send it back and forth, and clients follow three redirects
// or so, without a pause. So a node that may be the next to serve a range asks the one that
// it takes for its primary before it sends a client there; while that one does not serve
// the range either, the request waits here for newer routes.
//
// Invariant: a redirect from a node with a copy of the range leads to a node that was
// serving the range after the request had come. One that has handed it over therefore never
// gets a client back from the one that has it now. Only a node with a copy, or that is
// receiving one, can become the primary, and it knows that it has, or is, before it does.

// askTimeout is how long a node is waited for that is asked what it serves. It may keep
// the question for heldTimeout.
const askTimeout = 2 * heldTimeout

// An asked is what a connection has asked another node about while it runs one pipeline:
// it serves a range, by the number that this has in the routes of a term.
type serveAnswers struct {
	term uint64
	row  int
}

// moved tells the client of a redirect connection where to go. It returns how many
// requests it has answered: 0 if the first is to be looked at again.
func (c *conn) moved(r *request, routes *Routes) int {
	if r.owner == ownerSeveral {
		c.srv.stats.CrossSlot.Add(1)
		c.refuse(r, msgCrossSlot)
		return 1
	}
	args := c.args[r.first:r.last]
	keys, err := r.cmd.KeysOf(args, c.keys[:0])
	if err != nil || len(keys) == 0 {
		c.refuse(r, command.MsgSyntax) // cannot be: it has an owner
		return 1
	}
	key := args[keys[0].Pos]
	at := c.unit.Place(key).Token()
	end := time.Now().Add(c.srv.forwardTimeout())
	var wait outcome.Pause
	for why := ""; ; {
		left := time.Until(end)
		if left > 0 {
			reached, serves := c.serves(r.owner, at, key, routes, min(left, askTimeout))
			if serves {
				break
			}
			if why = command.MsgMoving; !reached {
				why = c.outOfTime(r, routes, r.owner)
			}
		}
		if left <= 0 || c.srv.closed() {
			c.refuse(r, why)
			return 1
		}
		c.awaitRoutes(routes, wait.Next(left))
		if c.closing {
			return 1
		}
		routes = c.srv.routes.Load()
		if r.owner = c.ownerOf(r, routes); r.owner < 0 {
			return 0
		}
	}
	if routes.away(at) {
		c.refuse(r, msgAway)
		return 1
	}
	to := routes.links[r.owner].Addr
	if to == "" {
		c.refuse(r, msgUnreachable)
		return 1
	}
	c.srv.stats.Redirected.Add(1)
	c.refuse(r, c.movedText(at, to))
	return 1
}

// readsCopy tells whether a redirect connection after READONLY gets the answer to a read or WATCH, or has the read
// queued after MULTI, since this node has a copy of all of its keys. The copy does not answer by itself, as it
// may be behind or be replaced: the read is forwarded to the primary, so that it is as fresh
// as there. Of EVAL and its like, readsCopy makes EVAL_RO, unless the script says that it writes.
func (c *conn) readsCopy(r *request, routes *Routes) bool {
	if !c.session.readonly || r.owner < 0 || r.waits {
		return false
	}
	script := r.cmd.Script && r.cmd.MayWrite && namedBy(c, r, true).MayOnlyRead()
	if !script && (r.cmd.Flags&command.FlagReadonly == 0 || r.cmd.MayWrite) && r.cmd.InMulti != command.MultiRuns {
		return false
	}
	args := c.args[r.first:r.last]
	keys, err := r.cmd.KeysOf(args, c.keys[:0])
	if err != nil || len(keys) == 0 {
		return false
	}
	for _, k := range keys {
		at := c.unit.Place(args[k.Pos]).Token()
		if !routes.Placement.Row(routes.Placement.Index(at)).Holds(routes.Self) {
			return false
		}
	}
	if script {
		r.cmd, r.atCopy = readOnlyOf(c, r), true
	}
	return true
}

// movedText sends a client to an address with a token.
func (c *conn) movedText(at ring.Token, to string) string {
	where := uint64(at)
	if c.srv.cfg.Slots {
		where >>= placement.SlotShift
	}
	return "MOVED " + strconv.FormatUint(where, 10) + " " + to
}

// serves tells whether a client can be sent to the owner of a key, or else whether that
// could at least be asked.
func (c *conn) serves(owner int32, at ring.Token, key []byte, routes *Routes, timeout time.Duration) (reached, serves bool) {
	now := serveAnswers{routes.term, routes.Placement.Index(at)}
	if !routes.mayServe(now.row) || c.asked == now {
		return true, true
	}
	b := &batch{link: routes.links[owner], bytes: wire.SubRequest("RING", "SERVES", key), requests: 1}
	b.send(Terms{}, timeout, nil)
	reply, err := b.reply()
	if err != nil || reply[0] != '+' {
		return err == nil || errors.Is(err, outcome.ErrNotRun), false
	}
	c.asked = now
	return true, true
}

// mayServe tells whether this node may become the primary of a range by a change that it
// has not heard of.
func (r *Routes) mayServe(row int) bool {
	at := r.Placement.Row(row)
	return slices.Contains(at.Learners, r.Self) || slices.Contains(at.Backups, r.Self)
}

// cmdRingServes is RING SERVES key, which runs where the key is served, as any command
// with a key does: it replies that it has.
func cmdRingServes(x *call) { x.OK() }
