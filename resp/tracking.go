package resp

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/store"
)

// Tracking (CLIENT TRACKING) tells clients that keep what they have read when it is not true
// any more. DESIGN.md says why no client keeps what it must not.

// maxTrackedKey is the length, in bytes, of the longest key that is remembered. What is read
// of others is invalid at once.
const maxTrackedKey = 4 << 10

// trackLook is how often it is looked whether the lease has been lost meanwhile, and who has
// not been heard of.
const trackLook = 50 * time.Millisecond

// trackers are all tracking clients and which keys they may hold, whoever serves these; and
// which other nodes have clients that may hold keys of this node.
//
// Invariants:
//
//   - A client that is sent a value has been entered for the key before it was read, and
//     nobody takes the entry away but who tells the client. A change is looked up once it can
//     be read. So whoever has read the value before the change is told. A client that is not told of
//     its own changes (NOLOOP) keeps its entry: it may have read the value behind the change.
//   - What another node's client is sent, that node has been entered for, likewise, if it says
//     so (tracking_remote.go) and hears this node (tracking_feed.go). Nobody takes that entry
//     away but who tells the node.
type trackers struct {
	srv     *Server
	n       atomic.Int32 // clients
	mu      sync.Mutex
	clients map[int64]*tracker
	keys    map[string][]int64 // who may hold each: numbers of clients, and of remote trackers
	items   int                // entries of all keys

	// Other nodes that keep what is read here.
	remote  map[string]*remoteTracker
	numbers map[string]int64 // of all nodes that ever did
	looks   bool             // at the lease and at remote trackers

	// Other nodes whose answers are kept here.
	feeds    map[string]*trackerFeed
	sessions uint64        // that they have begun
	wanted   uint64        // rises when other prefixes are to be heard of
	progress chan struct{} // closed when one hears more

	lease   time.Duration // trackerLease
	ended   bool
	stop    chan struct{}
	running sync.WaitGroup // that look, and tracker feeds
}

func (ts *trackers) init(s *Server) {
	ts.srv, ts.lease = s, trackerLease
	ts.clients = make(map[int64]*tracker)
	ts.keys = make(map[string][]int64)
	ts.remote = make(map[string]*remoteTracker)
	ts.numbers = make(map[string]int64)
	ts.feeds = make(map[string]*trackerFeed)
	ts.progress = make(chan struct{})
	ts.stop = make(chan struct{})
}

// close ends it, when there are no clients any more.
func (ts *trackers) close() {
	ts.mu.Lock()
	ts.ended = true
	close(ts.stop)
	ts.updateFeedsLocked(ts.srv.routes.Load())
	var done []func()
	for _, k := range ts.remote {
		done = ts.drop(k, done)
	}
	ts.mu.Unlock()
	run(done)
	ts.running.Wait()
}

// add has a client told from now on. It returns when other nodes say what changes there, or
// have not for long.
func (ts *trackers) add(t *tracker) {
	ts.mu.Lock()
	ts.clients[t.conn.session.id] = t
	t.conn.session.tracking.Store(t)
	ts.n.Store(int32(len(ts.clients)))
	if t.broadcast {
		ts.wanted++
		t.wanted = ts.wanted
	}
	ts.adapt()
	ts.mu.Unlock()
	ts.awaitFeeds(t.conn)
	ts.mu.Lock()
	t.ready = true
	ts.mu.Unlock()
}

// rerouted is called when a client has chosen what it gets for keys of other nodes: in BCAST
// mode it hears of these if they are forwarded, or if copies of them are read here.
func (ts *trackers) rerouted(c *conn) {
	c.session.redirects.Store(c.session.redirect && !c.session.readonly)
	if t := c.tracker(); t != nil && t.broadcast {
		ts.add(t)
	}
}

// adapt is called when there are other clients or remote trackers than before; the lock is held.
func (ts *trackers) adapt() {
	var sink store.ChangeSink
	if len(ts.clients)+len(ts.remote) > 0 {
		sink = ts.changed
	}
	ts.srv.store.OnChange(ts.srv.rehome.node.Sink(sink))
	if sink == nil {
		clear(ts.keys)
		ts.items = 0
	} else if !ts.looks && !ts.ended {
		ts.looks = true
		ts.running.Go(ts.look)
	}
	ts.updateFeedsLocked(ts.srv.routes.Load())
}

// remove has a client told nothing more. Its entries go when their keys change.
func (ts *trackers) remove(c *conn) {
	t := c.tracker()
	if t == nil {
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.clients, c.session.id)
	c.session.tracking.Store(nil)
	ts.n.Store(int32(len(ts.clients)))
	if t.broadcast {
		ts.wanted++
	}
	ts.adapt()
}

// enter notes that a client is about to read a key.
func (ts *trackers) enter(t *tracker, key []byte) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.enterLocked(t.conn.session.id, key)
	ts.told()
}

func (ts *trackers) enterLocked(id int64, key []byte) {
	if slices.Contains(ts.keys[string(key)], id) {
		return
	}
	ts.keys[string(key)] = append(ts.keys[string(key)], id)
	ts.items++
	ts.shrinkLocked(string(key))
}

// shrink has clients forget keys until no more are remembered than may be.
func (ts *trackers) shrink() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.shrinkLocked("")
	ts.told()
}

// shrinkLocked is shrink for who holds the lock; a last key goes last.
func (ts *trackers) shrinkLocked(last string) {
	most := int(ts.srv.settings.TrackingKeys.Load())
	for other := range ts.keys {
		if most == 0 || ts.items <= most {
			break
		}
		if other != last || len(ts.keys) == 1 {
			ts.invalidate(0, []byte(other))
		}
	}
}

// changed implements store.ChangeSink: it tells who has to know that keys have changed, by
// the client author if that is not 0. Replies wait until other nodes have been told.
func (ts *trackers) changed(author int64, keys iter.Seq[[]byte]) (told func(func())) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for key := range keys {
		ts.invalidate(author, key)
		for _, k := range ts.remote {
			if k.wants(key) {
				k.add(ts.authorFor(k, author), key)
			}
		}
	}
	ts.broadcast(author, keys, false)
	if w := ts.told(); w != nil {
		return w.then
	}
	return nil
}

// broadcastKeys is how many keys one message names at most.
const broadcastKeys = 256

// broadcast tells clients in BCAST mode, with one message for the keys of each prefix; the lock
// is held. far: of what has changed at another node.
func (ts *trackers) broadcast(author int64, keys iter.Seq[[]byte], far bool) {
	for id, t := range ts.clients {
		if !t.broadcast || t.noLoop && author == id || far && t.conn.session.redirects.Load() {
			continue
		}
		for _, prefix := range t.prefixes {
			var named [][]byte
			for key := range keys {
				if !strings.HasPrefix(string(database.Name(key)), prefix) || len(named) > 0 && bytes.Equal(named[len(named)-1], key) {
					continue
				}
				if named = append(named, key); len(named) == broadcastKeys {
					t.tell(named...)
					named = named[:0]
				}
			}
			if len(named) > 0 {
				t.tell(named...)
			}
		}
	}
}

// invalidate takes the entries of a key away; the lock is held.
func (ts *trackers) invalidate(author int64, key []byte) {
	ids, ok := ts.keys[string(key)]
	if !ok {
		return
	}
	var kept []int64
	for _, id := range ids {
		if id < 0 {
			if k := ts.trackerByNumber(id); k != nil {
				by := ts.authorFor(k, author)
				if by != 0 { // its client keeps its own entry there
					kept = append(kept, id)
				}
				if !k.wants(key) {
					k.add(by, key)
				}
			}
		} else if t := ts.clients[id]; t != nil && !t.broadcast {
			if t.noLoop && author == id {
				kept = append(kept, id)
			} else {
				t.tell(key)
			}
		}
	}
	ts.items -= len(ids) - len(kept)
	if kept == nil {
		delete(ts.keys, string(key))
	} else {
		ts.keys[string(key)] = kept
	}
}

// everything tells all that nothing of what they hold of this node's keys is known to be
// true. The result waits for the other nodes; nil if there is none to wait for.
func (ts *trackers) everything() *invalidationAck {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if len(ts.clients)+len(ts.remote) == 0 {
		return nil
	}
	clear(ts.keys)
	ts.items = 0
	for _, t := range ts.clients {
		t.tell()
	}
	for _, k := range ts.remote {
		k.addAll()
	}
	return ts.told()
}

// forget tells clients of this node that nothing of what they hold is known to be true. What
// other nodes hold of this one's keys is.
func (ts *trackers) forget() {
	if len(ts.remote) == 0 {
		clear(ts.keys)
		ts.items = 0
	}
	for _, t := range ts.clients {
		t.tell()
	}
}

// look has all forget everything when the lease was lost, since other nodes may have written
// meanwhile, and drops nodes that are not heard of.
func (ts *trackers) look() {
	tick := time.NewTicker(trackLook)
	defer tick.Stop()
	for still := ts.srv.mark(); ; {
		select {
		case <-ts.stop:
			return
		case <-tick.C:
		}
		if !still() {
			still = ts.srv.mark()
			ts.everything()
		}
		ts.dropOverdueFeeds()
		ts.lookAtKeepers()
	}
}

// counts returns how many clients, keys, entries and prefixes there are.
func (ts *trackers) counts() (clients, keys, items, prefixes int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return len(ts.clients), len(ts.keys), ts.items, len(ts.prefixes(func(*tracker) bool { return true }))
}

// prefixes are those of clients in BCAST mode, in order; the lock is held. No prefix is "".
func (ts *trackers) prefixes(of func(*tracker) bool) (all []string) {
	for _, t := range ts.clients {
		if t.broadcast && of(t) {
			all = append(all, t.prefixes...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func run(all []func()) {
	for _, do := range all {
		do()
	}
}
