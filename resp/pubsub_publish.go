package resp

import (
	"time"

	"github.com/ringside-kv/ringside/resp/internal/pubsub"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A message goes to every node that this one knows of, since any may have subscribers, and
// each hands it to its own. Whoever publishes waits until all have, and so learns how many
// clients got it; what it publishes next comes after it everywhere. A message is sent once
// at most, and a node that does not answer in time is left out.

// publishTimeout is how long a node is waited for that is sent a message. Nodes that are
// known to be away are not waited for.
const publishTimeout = time.Second

// A publisher is what a connection keeps for messages.
type publisher struct {
	mailing pubsub.Delivery
	peers   []*batch // to all other nodes
	collect bool     // counts are noted, for replies that come when other nodes have answered
	counts  []int64
	own     pubsub.OwnMessages
}

// publish runs the messages that the requests begin with, and returns how many there are.
func (c *conn) publish(reqs []request) int {
	if !awaitPause(c, reqs[0].cmd) {
		return 0
	}
	n := 1
	for n < len(reqs) && reqs[n].msg == "" && reqs[n].cmd.Publishes && !c.srv.pause.Applies(reqs[n].cmd) && !c.belongsElsewhere(&reqs[n]) {
		n++
	}
	reqs = reqs[:n]
	p := c.publisher()
	if c.from == nil {
		p.sendToPeers(c, reqs)
	}
	p.counts, p.collect = p.counts[:0], len(p.peers) > 0
	p.own.Count()
	for i := range reqs {
		at := len(c.out.Buf)
		before := len(p.counts)
		c.runOne(&reqs[i])
		if !p.collect {
			c.count(reqs[i].cmd, at)
			c.out.Buf = p.own.AppendAll(c.out.Buf)
		} else if len(p.counts) == before {
			p.counts = append(p.counts, -1) // it has replied with an error
		}
		p.own.Ended()
	}
	c.Pending.Flush(c.srv.stats)
	c.srv.courier.Send(&p.mailing, c.turn.AtEnd)
	if p.collect {
		p.addPeers(len(reqs))
		for i, count := range p.counts {
			if count < 0 {
				continue
			}
			at := len(c.out.Buf)
			c.out.Int(count)
			c.count(reqs[i].cmd, at)
			c.out.Buf = p.own.AppendOf(c.out.Buf, i)
		}
		p.own.Forget()
		p.peers, p.collect = p.peers[:0], false
	}
	return n
}

// sendToPeers sends the requests as they are to all nodes that seem to be there.
func (p *publisher) sendToPeers(c *conn, reqs []request) {
	kept := p.peers[:cap(p.peers)]
	p.peers = p.peers[:0]
	routes := c.srv.routes.Load()
	if routes == nil {
		return
	}
	var text []byte
	for i, peer := range routes.peers {
		if text == nil {
			for j := range reqs {
				text = append(text, reqs[j].raw...)
			}
		}
		b := new(batch)
		if i < len(kept) && kept[i] != nil {
			b = kept[i]
		}
		b.link, b.bytes, b.requests = peer, text, len(reqs)
		b.send(Terms{Part: true}, publishTimeout, nil)
		p.peers = append(p.peers, b)
	}
	c.srv.stats.Forwarded.Add(int64(len(p.peers) * len(reqs)))
}

// addPeers adds what the other nodes have counted.
func (p *publisher) addPeers(n int) {
	for _, b := range p.peers {
		for i := range n {
			reply, err := b.reply()
			if err != nil {
				break
			}
			if count, ok := wire.ReplyInt(reply); ok && p.counts[i] >= 0 {
				p.counts[i] += count
			}
		}
		b.bytes, b.replies = nil, Replies{}
	}
}

// deliver hands a message to the clients of this node, and replies with their number.
func (x *call) deliver(kind pubsub.Kind) {
	c := x.conn
	if x.InScript {
		x.postpone(kind)
		return
	}
	p := c.publisher()
	n := x.srv.pubsub.Deliver(&p.mailing, kind, x.Args[1], x.Args[2])
	if x.InTransaction { // a transaction, by itself
		x.srv.courier.Send(&c.pub.mailing, c.turn.AtEnd)
		for _, reply := range x.askPeers(x.raw()) {
			more, _ := wire.ReplyInt(reply)
			n += more
		}
		x.Int(n)
		return
	}
	if c.pub.collect {
		c.pub.counts = append(c.pub.counts, n)
		return
	}
	x.Int(n)
}

func cmdPublish(x *call)  { x.deliver(pubsub.Channel) }
func cmdSpublish(x *call) { x.deliver(pubsub.Shard) }

// askPeers asks all nodes that seem to be there, and returns the answers, in RESP2, of those
// that have answered in time.
func (x *call) askPeers(raw []byte) [][]byte {
	routes := x.srv.routes.Load()
	if routes == nil || asksNode(x) || len(routes.peers) == 0 {
		return nil
	}
	return x.sendPeers(routes, raw, 1)
}

// sendPeers sends requests to all nodes that seem to be there, and returns the first answer of
// each that has answered in time, unless that is an error.
func (x *call) sendPeers(routes *Routes, raw []byte, requests int) [][]byte {
	start := x.srv.clock()
	defer func() { x.waited += x.srv.clock() - start }()
	batches := make([]batch, len(routes.peers))
	for i, peer := range routes.peers {
		batches[i] = batch{link: peer, bytes: raw, requests: requests}
		batches[i].send(Terms{Part: true}, publishTimeout, nil)
	}
	x.srv.stats.Forwarded.Add(int64(len(batches) * requests))
	var replies [][]byte
	for i := range batches {
		if reply, err := batches[i].reply(); err == nil && reply[0] != '-' {
			replies = append(replies, reply)
		}
	}
	return replies
}

// publisher is what the connection keeps for the messages of a command, made when it is first needed.
func (c *conn) publisher() *publisher {
	if c.pub == nil {
		c.pub = new(publisher)
		c.pub.mailing.Own = c.keepOwn
	}
	if c.pub.mailing.From = nil; c.from == nil && !c.local.on {
		c.pub.mailing.From = &c.subs
	}
	return c.pub
}

// keepOwn keeps a message of the client to itself until the reply is complete, if that is sent.
func (c *conn) keepOwn(text []byte) bool {
	if c.session.replies == replyOn {
		c.pub.own.Keep(text, pushMark(c.out.Proto))
	}
	return c.session.replies == replyOn
}
