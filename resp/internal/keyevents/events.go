package resp

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/pubsub"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/store"
)

// Key events: what happens to keys is told on channels, as Redis' notify-keyspace-events
// says. Commands note events with their unit (store.Unit.Note). Once its commit has settled
// they come here, in the order of commits, and go to the clients of this node and to all
// other nodes.
//
// Invariants:
//
//   - A reply leaves after all nodes that seem to be there have the events of its write, but
//     for one that has not answered for eventPatience. So whatever becomes of this node
//     afterwards, no event of an acknowledged write is lost with it.
//   - Commits are numbered, over all nodes alike. Who gets a number that does not follow has
//     missed something, and tells its clients so; likewise who hears no more of a node that
//     has not said that it ends, and who hears first of a node that has told others before.
//   - A node that has just started does not know what others want to know. Until they have
//     told it, it tells them everything, and for some seconds it numbers everything, for those
//     whom it has not met yet.
//   - Who was away when somebody began to want events, or has forgotten who did, has not noted
//     them. So whoever tells a node late what is wanted hears what that has noted before; if it
//     is less, there is a gap.

// keyEvents are what a server makes of the events of its store, and of those of others.
type keyEvents struct {
	srv *Server
	own atomic.Uint32 // store.EventClass that this node was told to tell

	mu      sync.Mutex // comes after that of the store's events
	others  map[string]store.EventClass
	all     store.EventClass // own and others
	lines   map[string]*eventLine
	origins map[string]*eventOrigin
	number  uint64 // of the last commit
	ended   bool
	// begun is since when there are routes, on the server's clock, and 0 before; started tells
	// that Config.TellAll is over since.
	begun   time.Duration
	started bool
	sending sync.WaitGroup // goroutines of lines

	// What tells clients of this node.
	telling sync.Mutex // comes after mu
	mailing pubsub.Delivery
	channel []byte
}

// eventsAtStart are what a node tells that has started: what changes something.
const eventsAtStart = ^store.EventMiss

// starting tells whether this node asks all others what they want to know.
func (e *keyEvents) starting() bool { return e.begun > 0 && !e.started }

func (e *keyEvents) init(s *Server) {
	e.srv = s
	e.others = make(map[string]store.EventClass)
	e.lines = make(map[string]*eventLine)
	e.origins = make(map[string]*eventOrigin)
	s.store.SetEventSink(e.take)
}

// setOwn is CONFIG SET notify-keyspace-events. It returns when all nodes that seem to be
// there know, or have not answered for long.
func (e *keyEvents) setOwn(c store.EventClass) {
	e.mu.Lock()
	before := e.own.Swap(uint32(c))
	e.applyLocked()
	known := make(map[*eventLine]<-chan struct{})
	if uint32(c) != before {
		for _, l := range e.lines {
			known[l] = l.announce()
		}
	}
	e.mu.Unlock()
	timeout := time.NewTimer(eventPatience)
	defer timeout.Stop()
	for _, ch := range known {
		select {
		case <-ch:
		case <-timeout.C:
			e.late(known)
			return
		case <-e.srv.stop:
			return
		}
	}
}

// late notes which nodes do not know yet what they should.
func (e *keyEvents) late(known map[*eventLine]<-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for l, ch := range known {
		select {
		case <-ch:
		default:
			l.late = true
		}
	}
}

// noted is what this node has noted until now, of what changes something.
func (e *keyEvents) noted() store.EventClass {
	if e.starting() {
		return eventsAtStart & eventBits
	}
	return e.all &^ store.EventMiss
}

// eventBits are all that can be wanted.
const eventBits = store.EventByName<<1 - 1

// setOther notes what another node wants to know.
func (e *keyEvents) setOther(node string, c store.EventClass) {
	if e.others[node] == c {
		return
	}
	e.others[node] = c
	if c == 0 {
		delete(e.others, node)
	}
	e.applyLocked()
}

// applyLocked has the store note what any node wants to know, nothing where that is told by
// no channel, and keeps lines to the other nodes for as long as one does.
func (e *keyEvents) applyLocked() {
	c := store.EventClass(e.own.Load())
	for _, other := range e.others {
		c |= other
	}
	e.all = c
	if c&(store.EventByKey|store.EventByName) == 0 {
		c = 0
	}
	e.relinkLocked(e.srv.routes.Load(), false)
	if e.starting() {
		c |= eventsAtStart
	}
	e.srv.store.WantEvents(c)
}

// begin is called before there are routes.
func (e *keyEvents) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.begun == 0 && e.srv.cfg.TellAll > 0 {
		e.begun = max(e.srv.clock(), 1)
		e.applyLocked()
	}
}

// relink goes by new routes.
func (e *keyEvents) relink(r *Routes) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.relinkLocked(r, true)
	if e.starting() {
		e.applyLocked() // there may be a new one
	}
	for node := range e.others {
		if _, known := r.Nodes[node]; !known {
			delete(e.others, node)
			e.applyLocked()
		}
	}
	for node, o := range e.origins {
		if o.goneAt == 0 && !r.hasPeer(node) {
			o.goneAt = max(e.srv.clock(), 1)
		}
	}
}

// look is called once a second, and gives up nodes that have gone without a word, and lines
// for which there is nothing to tell.
func (e *keyEvents) look() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.starting() && e.srv.clock()-e.begun >= e.srv.cfg.TellAll {
		e.started = true
		e.applyLocked()
	}
	for node, l := range e.lines {
		if e.started && e.all == 0 && len(l.queue)+len(l.known) == 0 {
			l.end()
			delete(e.lines, node)
		}
	}
	for node, o := range e.origins {
		if o.goneAt == 0 || e.srv.clock()-o.goneAt < 2*eventPatience {
			continue
		}
		delete(e.origins, node)
		if !o.over {
			e.reportGap(node)
		}
	}
}

// updateFeedsLocked has a line to each node that seems to be there, if there may be something to
// tell. New ones may be late to tell what is wanted.
func (e *keyEvents) relinkLocked(r *Routes, late bool) {
	if r == nil || e.ended {
		return
	}
	for _, peer := range r.peers {
		l := e.lines[peer.ID]
		if l == nil && (e.all != 0 || e.starting()) {
			l = newEventLine(e, peer.ID)
			l.late = late
			e.lines[peer.ID] = l
			e.sending.Add(1)
			go l.run()
		}
		if l != nil {
			l.link = peer
		}
	}
	for node, l := range e.lines {
		if !r.hasPeer(node) {
			l.end()
			delete(e.lines, node)
		}
	}
}

func (r *Routes) hasPeer(node string) bool {
	return slices.ContainsFunc(r.peers, func(p *Route) bool { return p.ID == node })
}

// take implements store.EventSink.
func (e *keyEvents) take(events []byte, done func()) (waits bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.number++
	e.tell(events)
	n := &eventCommit{number: e.number, text: events, done: done}
	for _, l := range e.lines {
		if e.all == 0 && l.answered {
			continue // it wants nothing; what comes by the others is numbered all the same
		}
		if l.add(n) {
			waits = true
		}
	}
	return waits
}

// tell publishes events to the clients of this node. The caller holds mu.
func (e *keyEvents) tell(events []byte) {
	if e.srv.pubsub.Len() == 0 {
		return
	}
	e.telling.Lock()
	defer e.telling.Unlock()
	policies := e.srv.policies()
	_ = store.EachEvent(events, func(class store.EventClass, name, key []byte) {
		if e.all&class == 0 {
			return // told by who does not know that nobody wants to know
		}
		head, key := database.Split(key)
		n := policies.Number(head)
		if e.all&store.EventByKey != 0 {
			e.channel = append(appendEventChannel(e.channel[:0], "__keyspace@", n), key...)
			e.srv.pubsub.Deliver(&e.mailing, pubsub.Channel, e.channel, name)
		}
		if e.all&store.EventByName != 0 {
			e.channel = append(appendEventChannel(e.channel[:0], "__keyevent@", n), name...)
			e.srv.pubsub.Deliver(&e.mailing, pubsub.Channel, e.channel, key)
		}
	})
	e.mailing.Flush()
}

// appendEventChannel appends what the channel of an event of a database begins with.
func appendEventChannel(b []byte, kind string, database int) []byte {
	b = strconv.AppendInt(append(b, kind...), int64(database), 10)
	return append(b, "__:"...)
}

// reportGap tells all clients of this node that listen to key events that some of a node may
// be missing: on a channel that they need not have subscribed to. The caller holds mu.
func (e *keyEvents) reportGap(node string) {
	if e.all&(store.EventByKey|store.EventByName) == 0 {
		return
	}
	e.srv.log.Warn("key events of a node may be missing", "node", node)
	e.telling.Lock()
	defer e.telling.Unlock()
	e.srv.pubsub.Warn(&e.mailing, pubsub.EventChannel+"gap", node)
	e.mailing.Flush()
}

// close ends the lines, when there are no clients any more, and waits for them.
func (e *keyEvents) close() {
	e.mu.Lock()
	e.ended = true
	for node, l := range e.lines {
		l.sayEnd = true
		l.end()
		delete(e.lines, node)
	}
	e.mu.Unlock()
	e.sending.Wait()
}

func (s *Server) parseEventSetting(value string) (func(), string) {
	c, ok := settings.ParseEvents(value)
	if !ok {
		return nil, settings.FaultEvents
	}
	return func() { s.keyEvents.setOwn(c) }, ""
}
