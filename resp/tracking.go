package resp

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/redcon"
)

// Tracking (CLIENT TRACKING) tells clients that keep what they have read when it is not true
// any more. DESIGN.md says why no client keeps what it must not.

// A tracker is what one client wants to be told. It never changes, but for what its
// connection's goroutine uses.
type tracker struct {
	conn      *conn
	broadcast bool
	optIn     bool
	optOut    bool
	noLoop    bool
	prefixes  []string // with broadcast; without any, all keys
	redirect  int64    // the number of another connection that is told; 0: none
	target    *conn    // that connection
	broken    atomic.Bool

	reads trackedReads
}

// trackedReads are a connection's reads since the last replies have left. Its goroutine owns
// them.
type trackedReads struct {
	caching  bool // CLIENT CACHING was said
	holding  bool // what is pushed waits for the replies
	expected []string
	here     map[string]struct{} // those that this node has run
	ownTerm  uint64              // of the routes when the first of them began
}

// maxTrackedKey is the length, in bytes, of the longest key that is remembered. What is read
// of others is invalid at once.
const maxTrackedKey = 4 << 10

// leaseLook is how often it is looked whether the lease has been lost meanwhile.
const leaseLook = 50 * time.Millisecond

// trackers are all tracking clients, and which keys of this node they may hold.
//
// Invariant: a client that is sent a value has been entered for the key before it was read,
// and nobody takes the entry away but who tells the client. A change is looked up once it can
// be read. So whoever has read the value before the change is told.
type trackers struct {
	srv     *Server
	n       atomic.Int32 // clients
	mu      sync.Mutex
	clients map[int64]*tracker
	keys    map[string][]int64 // the clients, by their numbers
	items   int                // entries of all keys
	guards  bool               // that the lease is not lost
}

// add has a client told from now on.
func (ts *trackers) add(t *tracker) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.clients == nil {
		ts.clients = make(map[int64]*tracker)
		ts.keys = make(map[string][]int64)
	}
	ts.clients[t.conn.session.id] = t
	t.conn.session.tracking.Store(t)
	ts.n.Store(int32(len(ts.clients)))
	ts.srv.store.OnChange(ts.changed)
	if !ts.guards {
		ts.guards = true
		ts.srv.done.Add(1)
		go ts.guardLease()
	}
}

// remove has a client told nothing more. Its entries go when their keys change.
func (ts *trackers) remove(c *conn) {
	if c.session.tracking.Load() == nil {
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.clients, c.session.id)
	c.session.tracking.Store(nil)
	ts.n.Store(int32(len(ts.clients)))
	if len(ts.clients) == 0 {
		ts.srv.store.OnChange(nil)
		clear(ts.keys)
		ts.items = 0
	}
}

// enter notes that a client is about to read a key.
func (ts *trackers) enter(t *tracker, key []byte) {
	id := t.conn.session.id
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if slices.Contains(ts.keys[string(key)], id) {
		return
	}
	ts.keys[string(key)] = append(ts.keys[string(key)], id)
	ts.items++
	most := int(ts.srv.settings.trackingKeys.Load())
	for other := range ts.keys {
		if most == 0 || ts.items <= most {
			break
		}
		if other != string(key) || len(ts.keys) == 1 {
			ts.invalidate(0, []byte(other))
		}
	}
}

// changed tells who has to know that a key has changed, by the client author if that is not
// 0. It does not wait.
func (ts *trackers) changed(author int64, key []byte) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.invalidate(author, key)
	for id, t := range ts.clients {
		if t.broadcast && !(t.noLoop && author == id) && t.wants(key) {
			t.tell(key)
		}
	}
}

// invalidate takes the entries of a key away; the lock is held.
func (ts *trackers) invalidate(author int64, key []byte) {
	ids, ok := ts.keys[string(key)]
	if !ok {
		return
	}
	delete(ts.keys, string(key))
	ts.items -= len(ids)
	for _, id := range ids {
		if t := ts.clients[id]; t != nil && !t.broadcast && !(t.noLoop && author == id) {
			t.tell(key)
		}
	}
}

// everything tells all clients that nothing of what they hold is known to be true.
func (ts *trackers) everything() {
	if ts.n.Load() == 0 {
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	clear(ts.keys)
	ts.items = 0
	for _, t := range ts.clients {
		t.tell()
	}
}

// moved is called when other keys are this node's than before.
func (ts *trackers) moved() {
	ts.everything()
	if ts.n.Load() == 0 || ts.srv.servesAll() {
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.clients {
		if t.broadcast && !t.conn.session.redirects.Load() {
			t.conn.close() // it would be refused now
		}
	}
}

// guardLease has clients forget everything when the lease was lost: other nodes may have
// written since.
func (ts *trackers) guardLease() {
	defer ts.srv.done.Done()
	tick := time.NewTicker(leaseLook)
	defer tick.Stop()
	for still := ts.srv.mark(); ; {
		select {
		case <-ts.srv.stop:
			return
		case <-tick.C:
		}
		if !still() {
			still = ts.srv.mark()
			ts.everything()
		}
	}
}

// counts returns how many clients, keys, entries and prefixes there are.
func (ts *trackers) counts() (clients, keys, items, prefixes int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	seen := make(map[string]bool)
	for _, t := range ts.clients {
		if t.broadcast && len(t.prefixes) == 0 {
			seen[""] = true
		}
		for _, p := range t.prefixes {
			seen[p] = true
		}
	}
	return len(ts.clients), len(ts.keys), ts.items, len(seen)
}

func (t *tracker) wants(key []byte) bool {
	return len(t.prefixes) == 0 || slices.ContainsFunc(t.prefixes, func(p string) bool { return strings.HasPrefix(string(key), p) })
}

// tell tells the client that keys have changed; without any, that all may have.
func (t *tracker) tell(keys ...[]byte) {
	c := t.conn
	if t.target != nil {
		if c = t.target; c.closed.Load() {
			if !t.broken.Swap(true) && t.conn.session.proto.Load() == 3 {
				b := redcon.AppendBulkString([]byte(">2\r\n"), "tracking-redir-broken")
				t.conn.push(redcon.AppendInt(b, t.redirect))
			}
			return
		}
	}
	var b []byte
	switch {
	case c.session.proto.Load() == 3:
		b = redcon.AppendBulkString([]byte(">2\r\n"), "invalidate")
	case c != t.conn && c.takesMessages():
		b = redcon.AppendBulkString(redcon.AppendBulkString([]byte("*3\r\n"), "message"), "__redis__:invalidate")
	default:
		return // it could not tell it from a reply
	}
	switch {
	case len(keys) > 0:
		b = redcon.AppendArray(b, len(keys))
		for _, key := range keys {
			b = redcon.AppendBulk(b, key)
		}
	case c.session.proto.Load() == 3:
		b = append(b, "_\r\n"...)
	default:
		b = append(b, "*-1\r\n"...)
	}
	c.push(b)
}

// takesMessages reports whether a client of RESP2 expects what is no reply.
func (c *conn) takesMessages() bool { return c.session.watching.Load() || c.subs.any() }
