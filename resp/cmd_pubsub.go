package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/pubsub"
	"github.com/ringside-kv/ringside/resp/wire"
)

func cmdSubscribe(x *call)  { x.subscribe(pubsub.Channel) }
func cmdPsubscribe(x *call) { x.subscribe(pubsub.Pattern) }
func cmdSsubscribe(x *call) { x.subscribe(pubsub.Shard) }

func cmdUnsubscribe(x *call)  { x.unsubscribe(pubsub.Channel) }
func cmdPunsubscribe(x *call) { x.unsubscribe(pubsub.Pattern) }
func cmdSunsubscribe(x *call) { x.unsubscribe(pubsub.Shard) }

func (x *call) subscribe(kind pubsub.Kind) {
	if x.InTransaction { // messages wait for the reply of the whole transaction
		x.conn.pushes.hold(true)
		x.then = func() {}
	}
	for _, name := range x.Args[1:] {
		if !x.srv.pubsub.Add(&x.conn.subs, kind, name) {
			x.Error("ERR too many subscriptions: they take more memory than output-buffer allows")
			break
		}
		x.subscription(name)
		x.Int(x.conn.subs.Count(kind))
	}
	x.conn.subscribed = x.conn.subs.Any()
}

// unsubscribe has what was published before leave before its reply.
func (x *call) unsubscribe(kind pubsub.Kind) {
	c := x.conn
	names := x.Args[1:]
	if len(names) == 0 {
		for _, name := range x.srv.pubsub.NamesOf(&c.subs, kind) {
			names = append(names, []byte(name))
		}
	}
	for _, name := range names {
		x.srv.pubsub.Remove(&c.subs, kind, name)
		x.Buf = c.pushes.take(x.Buf)
		x.subscription(name)
		x.Int(c.subs.Count(kind))
	}
	if len(names) == 0 {
		x.subscription(nil)
		x.Int(c.subs.Count(kind))
	}
	c.subscribed = c.subs.Any()
}

// subscription begins the reply about one subscription, or none.
func (x *call) subscription(name []byte) {
	x.Push(3)
	x.BulkString(x.Row.Name)
	if name == nil {
		x.Null()
	} else {
		x.Bulk(name)
	}
}

// belongsElsewhere tells whether a redirect connection is to be sent to another node with a
// shard channel, as Redis Cluster does, though any node takes it here.
func (c *conn) belongsElsewhere(r *request) bool {
	routes := c.srv.routes.Load()
	return routes != nil && c.session.redirect && c.from == nil && c.shardOwner(r, routes) != ownerSelf
}

// shardOwner is who serves the tokens of the channels of a request.
func (c *conn) shardOwner(r *request, routes *Routes) int32 {
	if len(r.cmd.Keys) == 0 || r.last-r.first < 2 {
		return ownerSelf
	}
	names := c.args[r.first+1 : r.last]
	if r.cmd.Publishes {
		names = names[:1]
	}
	first := c.unit.Place(names[0]).Token()
	for _, name := range names[1:] {
		if c.unit.Place(name).Token() != first {
			return ownerSeveral
		}
	}
	if owner := routes.of(first); owner >= 0 {
		return owner
	}
	return ownerSelf
}

// redirectShard sends a client elsewhere with a shard channel.
func (c *conn) redirectShard(r *request) {
	routes := c.srv.routes.Load()
	owner := c.shardOwner(r, routes)
	switch {
	case owner == ownerSeveral:
		c.srv.stats.CrossSlot.Add(1)
		c.refuse(r, msgCrossSlot)
	case owner < 0 || routes.links[owner].Addr == "":
		c.refuse(r, msgUnreachable)
	default:
		c.srv.stats.Redirected.Add(1)
		c.refuse(r, c.movedText(c.unit.Place(c.args[r.first+1]).Token(), routes.links[owner].Addr))
	}
}

// subscribes runs the subscriptions that the requests begin with, and returns how many there
// are. What is published meanwhile leaves after the replies.
func (c *conn) subscribes(reqs []request) int {
	if !awaitPause(c, reqs[0].cmd) {
		return 0
	}
	c.pushes.hold(true)
	n := 0
	for n < len(reqs) {
		r := &reqs[n]
		if r.msg != "" || !r.cmd.Subscribes || n > 0 && (c.srv.pause.Applies(r.cmd) || c.belongsElsewhere(r)) {
			break
		}
		c.runOne(r)
		c.session.keepReply() // it is used up, though these replies always leave
		n++
	}
	c.Pending.Flush(c.srv.stats)
	if c.flush() != nil {
		c.closing = true
	}
	c.pushes.hold(false)
	return n
}

func cmdPubsubChannels(x *call)      { x.activeChannels(pubsub.Channel) }
func cmdPubsubShardchannels(x *call) { x.activeChannels(pubsub.Shard) }

func (x *call) activeChannels(kind pubsub.Kind) {
	if len(x.Args) > 3 {
		x.Error("ERR unknown subcommand or wrong number of arguments for '" + string(command.Shown(x.Args[1], 128)) + "'. Try PUBSUB HELP.")
		return
	}
	var pattern []byte
	if len(x.Args) == 3 {
		pattern = x.Args[2]
	}
	names := x.srv.pubsub.Active(kind, pattern)
	x.replyNames(x.withPeersNames(names))
}

// cmdPubsubNumpat counts a pattern once, at however many nodes it is: nodes tell each other
// the patterns.
func cmdPubsubNumpat(x *call) {
	names := x.srv.pubsub.Active(pubsub.Pattern, nil)
	if asksNode(x) {
		x.replyNames(names)
		return
	}
	x.Int(int64(len(x.withPeersNames(names))))
}

func (x *call) replyNames(names []string) {
	x.Array(len(names))
	for _, name := range names {
		x.BulkString(name)
	}
}

// withPeersNames adds what the other nodes have.
func (x *call) withPeersNames(names []string) []string {
	return pubsub.WithNames(names, x.askPeers(x.raw()))
}

func cmdPubsubNumsub(x *call)      { x.numberOfSubscribers(pubsub.Channel) }
func cmdPubsubShardnumsub(x *call) { x.numberOfSubscribers(pubsub.Shard) }

func (x *call) numberOfSubscribers(kind pubsub.Kind) {
	names := x.Args[2:]
	counts := make([]int64, len(names))
	for i, name := range names {
		counts[i] = x.srv.pubsub.Subscribers(kind, name)
	}
	if len(names) > 0 {
		pubsub.AddCounts(counts, x.askPeers(x.raw()))
	}
	x.Array(2 * len(names))
	for i, name := range names {
		x.Bulk(name)
		x.Int(counts[i])
	}
}

// raw is the call as a client sends it.
func (x *call) raw() []byte { return wire.AppendRequest(nil, x.Args...) }
