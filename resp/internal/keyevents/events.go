package keyevents

import (
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/pubsub"
	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/store"
)

// Events are what a server makes of the events of its store, and of those of others. Its methods may be called
// from any goroutine.
type Events struct {
	cfg Config
	own atomic.Uint32 // store.EventClass that this node was told to tell

	mu      sync.Mutex // comes after that of the store's events
	others  map[string]store.EventClass
	all     store.EventClass // own, that of the follower and others
	lines   map[string]*line
	origins map[string]*origin
	peers   []relay.Peer
	number  uint64 // of the last commit
	ended   bool
	// begun is since when there are routes, on the server's clock, and 0 before; started tells
	// that Config.TellAll is over since.
	begun    time.Duration
	started  bool
	follower Follower
	order    *database.Order // of the databases, by the newest routes
	sending  sync.WaitGroup  // goroutines of lines

	// What tells clients of this node.
	telling sync.Mutex // comes after mu
	mailing pubsub.Delivery
	channel []byte
}

// Config is what Events need of their server.
type Config struct {
	Store    *store.Store
	PubSub   *pubsub.Registry
	Policies func() *database.Policies
	Self     func() string        // the node
	Run      string               // its start
	Clock    func() time.Duration // the server's
	// TellAll is for how long, once there are routes, all key events are told.
	TellAll time.Duration
	// MaxQueued returns how many bytes of events may wait for one node.
	MaxQueued func() int64
	Stop      <-chan struct{} // closed when the server closes
	Logger    *slog.Logger
}

// A Follower is told of all keys that change, in the whole cluster. Its methods must neither block nor call Events.
type Follower interface {
	// Changed is called when a stored key has changed. The key is valid during the call.
	Changed(key []byte)
	// Flushed is called when the keys of a database were removed; a number below 0 stands for all databases.
	Flushed(database int)
	// Gap is called when changes at a node may be missing.
	Gap(node string)
}

// atStart are the events that a node sends after its start, until others have said which they listen to.
const atStart = ^store.EventMiss

// starting reports whether this node asks all others which events they listen to.
func (e *Events) starting() bool { return e.begun > 0 && !e.started }

// New returns Events that take those of the store. Close must be called.
func New(cfg Config) *Events {
	e := &Events{cfg: cfg, others: make(map[string]store.EventClass), lines: make(map[string]*line), origins: make(map[string]*origin)}
	cfg.Store.SetEventSink(e.take)
	return e
}

// Own are the events that this node was told to tell.
func (e *Events) Own() store.EventClass { return store.EventClass(e.own.Load()) }

// SetOwn is CONFIG SET notify-keyspace-events. It returns when all nodes that seem to be
// there know, or have not answered for long.
func (e *Events) SetOwn(c store.EventClass) {
	e.announce(func() (changed bool) { return e.own.Swap(uint32(c)) != uint32(c) })
}

// Follow has a follower told of what changes at any node, from its return on; nil ends that. A node that does
// not answer in time is a gap once it does.
func (e *Events) Follow(f Follower) {
	e.announce(func() (changed bool) {
		changed = (e.follower == nil) != (f == nil)
		e.follower = f
		return changed
	})
}

// wants is what this node wants to know. The caller holds mu.
func (e *Events) wants() store.EventClass {
	c := store.EventClass(e.own.Load())
	if e.follower != nil {
		c |= store.EventChanged
	}
	return c
}

// listens reports whether anybody at this node hears of events. The caller holds mu.
func (e *Events) listens() bool { return e.follower != nil || e.cfg.PubSub.Len() > 0 }

// announce changes what this node wants to know, and returns when all nodes that seem to be there know, or have not
// answered for long.
func (e *Events) announce(change func() (changed bool)) {
	e.mu.Lock()
	changed := change()
	e.applyLocked()
	known := make(map[*line]<-chan struct{})
	if changed {
		for _, l := range e.lines {
			known[l] = l.announce()
		}
	}
	e.mu.Unlock()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for _, ch := range known {
		select {
		case <-ch:
		case <-timeout.C:
			e.late(known)
			return
		case <-e.cfg.Stop:
			return
		}
	}
}

// late notes which nodes do not know yet what they should.
func (e *Events) late(known map[*line]<-chan struct{}) {
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
func (e *Events) noted() store.EventClass {
	if e.starting() {
		return atStart & allClasses
	}
	return e.all &^ store.EventMiss
}

// allClasses are all that can be wanted.
const allClasses = store.EventChanged<<1 - 1

// setOther notes what another node wants to know.
func (e *Events) setOther(node string, c store.EventClass) {
	if e.others[node] == c {
		return
	}
	begins := c&store.EventChanged != 0 && e.others[node]&store.EventChanged == 0
	e.others[node] = c
	if c == 0 {
		delete(e.others, node)
	}
	e.applyLocked()
	if l := e.lines[node]; begins && l != nil {
		l.anchor = true
		l.rouse()
	}
}

// applyLocked has the store note what any node wants to know, nothing where that is told by
// no channel, and keeps lines to the other nodes for as long as one does.
func (e *Events) applyLocked() {
	c := e.wants()
	for _, other := range e.others {
		c |= other
	}
	e.all = c
	if c&(store.EventByKey|store.EventByName) == 0 {
		c &= store.EventChanged
	}
	e.relinkLocked(false)
	if e.starting() {
		c |= atStart
	}
	e.cfg.Store.WantEvents(c)
}

// Begin is called before there are routes.
func (e *Events) Begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.begun == 0 && e.cfg.TellAll > 0 {
		e.begun = max(e.cfg.Clock(), 1)
		e.applyLocked()
	}
}

// Relink goes by new routes: these nodes seem to be there, and known tells which ones are members.
func (e *Events) Relink(peers []relay.Peer, known func(node string) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.peers = peers
	e.tellSwapped()
	e.relinkLocked(true)
	if e.starting() {
		e.applyLocked() // there may be a new one
	}
	for node := range e.others {
		if !known(node) {
			delete(e.others, node)
			e.applyLocked()
		}
	}
	for node, o := range e.origins {
		if o.goneAt == 0 && !e.hasPeer(node) {
			o.goneAt = max(e.cfg.Clock(), 1)
		}
	}
}

// tellSwapped tells the follower that databases were swapped: it has to read all of their keys.
func (e *Events) tellSwapped() {
	before, now := e.order, e.cfg.Policies().Order()
	e.order = now
	if e.follower == nil || before.Swaps() == now.Swaps() {
		return
	}
	for _, s := range now.Changed {
		if before.Shown(s.Number) != s {
			e.follower.Flushed(s.Number)
		}
	}
}

// Look is called once a second, and gives up nodes that have gone without a word, and lines
// for which there is nothing to tell.
func (e *Events) Look() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.starting() && e.cfg.Clock()-e.begun >= e.cfg.TellAll {
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
		if o.goneAt == 0 || e.cfg.Clock()-o.goneAt < 2*patience {
			continue
		}
		delete(e.origins, node)
		if !o.over {
			e.reportGap(node)
		}
	}
}

// relinkLocked has a line to each node that seems to be there, if there may be something to
// tell. New ones may be late to tell what is wanted.
func (e *Events) relinkLocked(late bool) {
	if e.ended {
		return
	}
	for _, peer := range e.peers {
		l := e.lines[peer.ID]
		if l == nil && (e.all != 0 || e.starting()) {
			l = newLine(e, peer.ID)
			l.late = late
			e.lines[peer.ID] = l
			e.sending.Add(1)
			go l.run()
		}
		if l != nil {
			l.peer = peer
		}
	}
	for node, l := range e.lines {
		if !e.hasPeer(node) {
			l.end()
			delete(e.lines, node)
		}
	}
}

func (e *Events) hasPeer(node string) bool {
	return slices.ContainsFunc(e.peers, func(p relay.Peer) bool { return p.ID == node })
}

// take implements store.EventSink.
func (e *Events) take(events []byte, done func()) (waits bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.number++
	e.tell(events)
	n := &commit{number: e.number, text: events, done: done}
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

// tell publishes events to the clients and the follower of this node. The caller holds mu.
func (e *Events) tell(events []byte) {
	if !e.listens() {
		return
	}
	e.telling.Lock()
	defer e.telling.Unlock()
	policies := e.cfg.Policies()
	_ = store.EachEvent(events, func(class store.EventClass, name, key []byte) {
		if e.all&class == 0 {
			return // the sender does not know yet that no client listens here
		}
		if class == store.EventChanged {
			e.tellFollower(string(name), key, policies)
			return
		}
		head, key := database.Split(key)
		n := policies.Number(head)
		if e.all&store.EventByKey != 0 {
			e.channel = append(appendEventChannel(e.channel[:0], "__keyspace@", n), key...)
			e.cfg.PubSub.Deliver(&e.mailing, pubsub.Channel, e.channel, name)
		}
		if e.all&store.EventByName != 0 {
			e.channel = append(appendEventChannel(e.channel[:0], "__keyevent@", n), name...)
			e.cfg.PubSub.Deliver(&e.mailing, pubsub.Channel, e.channel, key)
		}
	})
	e.mailing.Flush()
}

// Names of events of the class EventChanged.
const (
	flushedAll = "flushall" // all keys of a node were removed
	flushed    = "flushdb"  // all keys of the database that the stored key is of
)

// tellFollower passes a change on. The caller holds mu.
func (e *Events) tellFollower(name string, key []byte, policies *database.Policies) {
	switch {
	case e.follower == nil:
	case name == flushedAll:
		e.follower.Flushed(-1)
	case name == flushed:
		e.follower.Flushed(policies.Number(database.HeadOf(key)))
	default:
		e.follower.Changed(key)
	}
}

// Flushed tells followers at any node that this node has removed its keys of a database, or, with a number below 0,
// all. It returns when all nodes know that seem to be there.
func (e *Events) Flushed(number int) {
	e.mu.Lock()
	wanted := e.all&store.EventChanged != 0 || e.starting()
	e.mu.Unlock()
	if !wanted {
		return
	}
	name, key := flushedAll, []byte(nil)
	if number >= 0 {
		name, key = flushed, database.AppendKey(nil, e.cfg.Policies().Head(number), nil)
	}
	known := make(chan struct{})
	if !e.take(store.AppendEvent(nil, store.EventChanged, name, key), func() { close(known) }) {
		return
	}
	<-known
}

// appendEventChannel appends what the channel of an event of a database begins with.
func appendEventChannel(b []byte, kind string, database int) []byte {
	b = strconv.AppendInt(append(b, kind...), int64(database), 10)
	return append(b, "__:"...)
}

// reportGap tells all clients of this node that listen to key events that some of a node may
// be missing: on a channel that they need not have subscribed to. The caller holds mu.
func (e *Events) reportGap(node string) {
	if e.follower != nil {
		e.follower.Gap(node)
	}
	e.reportGapToClients(node)
}

// reportGapToClients is reportGap for clients alone.
func (e *Events) reportGapToClients(node string) {
	if e.all&(store.EventByKey|store.EventByName) == 0 {
		return
	}
	e.cfg.Logger.Warn("key events of a node may be missing", "node", node)
	e.telling.Lock()
	defer e.telling.Unlock()
	e.cfg.PubSub.Warn(&e.mailing, pubsub.EventChannel+"gap", node)
	e.mailing.Flush()
}

// Close ends the lines, when there are no clients any more, and waits for them.
func (e *Events) Close() {
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
