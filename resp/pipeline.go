package resp

import (
	"bytes"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/store"
)

// A pipeline is the requests that one read brought. It is cut into units: runs of
// commands that work on keys and share one commit (store.Unit). Commands without
// keys run between units, but for the few that touch nothing but the reply.

const (
	maxPipeline      = 256      // requests taken up at once
	maxPipelineBytes = 1 << 20  // and their bytes, but for one larger request
	maxPipelineArgs  = 64 << 10 // and their arguments, but for one command with more
	keepArgs         = 16 << 10 // arguments for which a connection keeps memory
	maxUnitKeys      = 1024     // keys whose latches one unit takes, but for one larger command
	maxUnitReplies   = 1 << 20  // bytes of replies after which a unit is cut
)

// A request is a parsed command: c.args[first:last].
type request struct {
	first, last int
	raw         []byte // as the client wrote it
	cmd         *command.Row
	msg         string             // error reply instead of running it
	sent        *batch             // with which it is on its way, whoever serves its keys by now
	owner       int32              // who serves its keys: a place in Routes.links, ownerSelf, …
	part        int32              // of what another node forwards, the batch
	keyAt       int32              // which argument its only key is; 0: it has none, or several
	placed      [2]int32           // its places are conn.touched[placed[0]:placed[1]]
	touches     bool               // it has keys: only then its reply needs the node's lease
	denied      acl.Denial         // why the client may not send it
	as          *acl.User          // for whom another node forwards it, if its commands are to be checked
	judged      bool               // as to whether its keys lie together
	waits       bool               // it may wait until a key gets something
	turn        uint64             // if it waits: its number among those of this node's clients, by when the requests before it were over
	shown       bool               // to monitors
	fixed       bool               // it is not run once a database is swapped
	stored      bool               // its keys are stored ones, where written has the client's; see storeKeys
	every       bool               // it needs all latches of the store
	solo        bool               // it has a unit of its own
	sought      bool               // other nodes were asked for its script
	atCopy      bool               // it is a script that cmd has not write, as at a replica; see readsCopy
	progress    *waitProgress      // of one that has begun to
	place       store.Place        // of its only key
	extra       []store.Place      // of keys that are not among its arguments: see wants in call
	written     [2]int32           // c.args[written[0]:written[1]] is what the client wrote, if stored is set
	writtenCmd  *command.Row       // its command then
	by          *database.Policies // the forms of its keys; a client's request only
	until       time.Time          // how long it waits for somebody to serve its keys; zero: it has not waited yet
}

// run runs all parsed requests. At its end replies either lie in out, or a unit is
// pending and the settler sends them. arrived is when they came, on the server's clock.
func (c *conn) run(arrived time.Duration) {
	if len(c.reqs) == 0 {
		return
	}
	c.session.lastUsed.Store(int64(arrived))
	beginTiming(c, arrived)
	c.answers.Arrived(arrived)
	c.session.commands.Add(int64(len(c.reqs)))
	c.multi.forget(c)
	c.stored = databaseOf(c)
	if rightsChanged(c) {
		loadUser(c)
	}
	for i := range c.reqs {
		c.resolve(&c.reqs[i], c.alike(i))
	}
	c.runResolved()
}

func (c *conn) runResolved() {
	c.asked = serveAnswers{}
	defer c.markBlocked(false)
	for i, last := 0, 0; i < len(c.reqs) && !c.closing; {
		if i != last { // the request that the connection may have waited for is answered
			c.markBlocked(false)
			last = i
		}
		if rightsChanged(c) {
			reloadUser(c, c.reqs[i:])
			continue
		}
		restoreKeys(c, c.reqs[i:])
		if r := &c.reqs[i]; r.waits && r.turn == 0 && c.from == nil {
			r.turn = c.srv.blocked.turns.Add(1)
		}
		if c.answerReleased(&c.reqs[i]) {
			i++
			continue
		}
		if c.pending {
			c.await()
		}
		if len(c.out.Buf) >= flushSize {
			if c.flush() != nil {
				c.closing = true
				return
			}
		}
		if c.from != nil && c.mustPostpone(&c.reqs[i]) {
			i++
			continue
		}
		if c.multi.open && c.queues(&c.reqs[i]) {
			i += c.queue(&c.reqs[i])
			continue
		}
		if c.seeks(&c.reqs[i]) {
			if c.leaveTurn(); !c.seek(&c.reqs[i]) {
				return
			}
		}
		routes := c.enter()
		if rightsChanged(c) { // the users changed before these routes: see settle
			c.leave()
			continue
		}
		n := c.gather(c.reqs[i:], routes)
		c.hold = i+n < len(c.reqs) || c.from != nil
		if n > 0 && i+n < len(c.reqs) && c.isSentAlong(&c.reqs[i+n]) {
			c.leave()
			c.leaveTurn()
			i += c.forward(c.reqs[i:i+c.window(c.reqs[i:], n+1, routes)], routes)
			continue
		}
		if n == 0 {
			c.leave()
			if !publishesAtOnce(c, &c.reqs[i]) && !enqueuesAtOnce(c, &c.reqs[i], routes) {
				c.leaveTurn()
			}
			if c.reqs[i].owner != ownerSelf {
				i += c.answerRemote(c.reqs[i:], routes)
				continue
			}
			if cmd := c.reqs[i].cmd; cmd.Publishes || cmd.Subscribes {
				i += c.messages(c.reqs[i:])
				continue
			}
			if i += c.alone(&c.reqs[i]); rightsChanged(c) { // AUTH, RESET, ACL SETUSER
				reloadUser(c, c.reqs[i:])
			}
			continue
		}
		i += c.runUnit(c.reqs[i : i+n])
		c.leave()
	}
	if cap(c.args) > keepArgs && !c.asyncForward.on {
		c.args, c.keys, c.places, c.touched = nil, nil, nil, nil
	}
}

// alike is the command of a request, if that is the one of the request before it: pipelines
// are often of one command. Else it is nil: so for a script, whose command depends on what it says of itself.
func (c *conn) alike(i int) *command.Row {
	if i == 0 {
		return nil
	}
	before := &c.reqs[i-1]
	if before.cmd == nil || before.stored || before.cmd.Script || before.cmd.Subs != nil || before.cmd.Parent != nil ||
		!bytes.Equal(c.args[before.first], c.args[c.reqs[i].first]) {
		return nil
	}
	return before.cmd
}

// resolve finds a request's command, unless it is known, and what is wrong with it before it
// is run.
func (c *conn) resolve(r *request, known *command.Row) {
	args := c.args[r.first:r.last]
	if known != nil && known.Takes(len(args)) {
		r.cmd, r.msg = known, ""
	} else {
		if r.cmd, r.msg = c.srv.table.Lookup(args); c.from != nil {
			unwrap(c, r)
			args = c.args[r.first:r.last]
		}
	}
	if r.msg == "" && r.cmd.Script && c.srv.pause.Active() {
		asReadOnly(c, r)
	}
	r.waits = r.msg == "" && r.cmd.MayWait(args)
	switch {
	case r.msg != "":
	case !c.authorized() && r.cmd.Flags&command.FlagNoAuth == 0:
		r.msg = command.MsgNoAuth
	case r.cmd.Protected && !admin.MayDebug(c.srv.cfg.Debug, c.net.RemoteAddr()):
		r.msg = admin.MsgNoDebug
	case c.from == nil && r.cmd.Between:
		r.msg = "ERR " + strings.ToUpper(strings.ReplaceAll(r.cmd.Full, "|", " ")) + " is what nodes send each other"
	case c.from != nil && !r.cmd.ForNodes:
		r.msg = "ERR '" + r.cmd.Full + "' is not forwarded"
	}
	deny(c, r)
	if r.msg == "" && c.srv.settings.StrictBusy.Load() && c.from == nil && r.cmd.Flags&command.FlagAllowBusy == 0 {
		r.msg = c.srv.scripts.Late(c.srv.clock(), time.Duration(c.srv.settings.BusyAfter.Load()))
	}
	r.msg = command.Rejection(r.cmd, r.msg)
	if c.from == nil && r.msg == "" && (len(r.cmd.Keys) > 0 || r.cmd.IsOnKey != nil && r.cmd.IsOnKey(args)) {
		storeKeys(c, r)
	}
}

// gather returns how many of the requests make the next unit, with the places of
// their keys in c.places where latches are needed; 0 if the first must run alone, or
// elsewhere, as its owner tells.
func (c *conn) gather(reqs []request, routes *Routes) int {
	c.places, c.every = c.places[:0], false
	latched := false
	n, keys := 0, 0
	for ; n < len(reqs); n++ {
		r := &reqs[n]
		r.owner, r.keyAt, r.touches = ownerSelf, 0, false
		if c.subscribed && c.out.Proto == 2 && r.msg == "" && !r.cmd.WhileSubscribed {
			r.msg = command.Rejection(r.cmd, "ERR Can't execute '"+r.cmd.Full+"': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
		}
		if n > 0 && (r.waits || reqs[n-1].waits) {
			break
		}
		if r.msg == "" && r.cmd.MayWrite && hasLostWrites(c) { // it is tried again elsewhere
			r.msg = scripts.MsgAtReplica
		}
		if r.msg != "" {
			continue
		}
		if !r.cmd.Keyed {
			if !r.cmd.Neutral {
				if n == 0 && c.session.redirect && routes != nil {
					if c.ownerOf(r, routes); r.cmd.InMulti == command.MultiRuns && c.readsCopy(r, routes) {
						r.owner = ownerSelf // WATCH asks the primary
					}
				}
				break
			}
			continue
		}
		if n > 0 && (c.srv.pause.Applies(r.cmd) || c.seeks(r)) {
			break
		}
		solo := r.solo || r.cmd.Script && c.goesAstray(r)
		if n > 0 && solo {
			break
		}
		args := c.args[r.first:r.last]
		var err error
		c.keys, err = r.cmd.KeysOf(args, c.keys[:0])
		if err != nil {
			continue // its handler says what is wrong
		}
		if n > 0 && keys+len(c.keys) > maxUnitKeys {
			break
		}
		if routes != nil {
			if r.owner = asStored(c, r, routes, c.keys); r.owner != ownerSelf {
				break
			}
			args = c.args[r.first:r.last]
		}
		r.touches = len(c.keys)+len(r.extra) > 0 || r.every
		placed := len(c.places)
		for _, k := range c.keys {
			key := args[k.Pos]
			if c.srv.settings.IsTooLong(key) {
				r.msg = command.MsgKeyTooLong
				break
			}
			c.places = append(c.places, c.unit.Place(key))
		}
		if len(c.keys) == 1 && len(c.places) > placed {
			r.keyAt, r.place = int32(c.keys[0].Pos), c.places[placed]
			c.unit.RememberPlace(args[r.keyAt], r.place) // the next request may be about the same
		}
		c.places = append(c.places, r.extra...)
		r.placed = [2]int32{int32(placed), int32(len(c.places))}
		if routes != nil && r.msg == "" {
			r.owner = routes.ofAll(c.places[placed:])
		}
		if len(c.places)-placed > 1 && !r.judged && r.msg == "" {
			c.checkSeveralKeys(r, c.places[placed:])
		}
		if routes != nil && r.msg == "" && r.cmd.MayWrite {
			c.writes(r, routes, c.places[placed:])
		}
		if r.owner != ownerSelf {
			c.places = c.places[:placed]
			break
		}
		keys += len(c.keys)
		// What reads several keys must see them as of one moment.
		latched = latched || r.waits || r.cmd.Flags&command.FlagWrite != 0 || len(c.keys) > 1 || r.cmd.Latched
		if c.every = r.every; solo {
			if n++; n < len(reqs) {
				reqs[n].owner = ownerSelf // it is looked at when its turn comes
			}
			break
		}
	}
	c.unit.RememberPlace(nil, 0)
	if c.touched = c.places; !latched {
		c.places = c.places[:0]
	}
	return n
}
