package resp

import (
	"time"

	"github.com/ringside-kv/ringside/resp/internal/relay"
)

// A remoteTracker is another node whose clients keep what was read here, or want to know what
// changes. It asks what has changed (RING HEED, see tracking_feed.go), again and again, and says
// how far it has heard; what it is told is numbered. The lock of trackers guards it.
//
// Invariant: a reply that tells of a change leaves after each remote tracker that had been entered
// for the key has heard of it, or may not take what it holds for true any more: that is so
// once it has not asked for trackerLease, which it counts from when it asks, this node from when
// that arrives, and trackerLeaseMargin longer.
type remoteTracker struct {
	node    string
	number  int64 // in trackers.keys: below 0
	session string
	// heardAt is when it last asked, on the server's clock. That may stand still while the machine
	// is suspended, which only makes the wait longer.
	heardAt time.Duration

	broadcast bool // it wants to know of all keys that begin with one of the prefixes
	prefixes  []string

	queue relay.InvalidationQueue
	// touched: it has items of the change that is being told.
	touched bool
	waits   []trackerWait // in the order of their numbers

	parked   func(Replies, error) // the answer that it waits for
	parkedAt time.Duration
}

// A trackerWait is who waits until a remote tracker has heard so far.
type trackerWait struct {
	number uint64
	of     *invalidationAck
}

const (
	// trackerLease is how long a node that has asked takes it, without another answer, that it
	// hears of what changes.
	trackerLease = time.Second
	// trackerLeaseMargin is how much longer it is waited for.
	trackerLeaseMargin = 250 * time.Millisecond
	// heedBeat is how long an answer waits for something to tell.
	heedBeat = 250 * time.Millisecond
)

// An invalidationAck is the wait for all remote trackers to hear of a change. The lock of trackers
// guards it.
type invalidationAck struct {
	ts   *trackers
	left int
	done func()
}

// then calls done once all have heard.
func (w *invalidationAck) then(done func()) {
	w.ts.mu.Lock()
	if w.left > 0 {
		w.done = done
		w.ts.mu.Unlock()
		return
	}
	w.ts.mu.Unlock()
	done()
}

// over returns a channel that is closed once all have heard.
func (w *invalidationAck) over() <-chan struct{} {
	ch := make(chan struct{})
	if w == nil {
		close(ch)
	} else {
		w.then(func() { close(ch) })
	}
	return ch
}

// told returns the wait for what remote trackers have just been given to hear, nil if that is
// nothing, and has those answered that wait for it. The lock is held.
func (ts *trackers) told() *invalidationAck {
	var w *invalidationAck
	for _, k := range ts.remote {
		if !k.touched {
			continue
		}
		k.touched = false
		if w == nil {
			w = &invalidationAck{ts: ts}
		}
		w.left++
		k.waits = append(k.waits, trackerWait{k.queue.Last(), w})
		k.answer()
	}
	return w
}

func (k *remoteTracker) wants(key []byte) bool {
	return k.broadcast && hasPrefix(key, k.prefixes)
}

// add has the remote tracker hear that a key has changed.
func (k *remoteTracker) add(author int64, key []byte) {
	k.queue.Add(author, key)
	k.touched = true
}

// addAll has it hear that all may have.
func (k *remoteTracker) addAll() {
	k.queue.AddAll()
	k.touched = true
}

// trackerByNumber is the remote tracker of that number, if there is one.
func (ts *trackers) trackerByNumber(number int64) *remoteTracker {
	for _, k := range ts.remote {
		if k.number == number {
			return k
		}
	}
	return nil
}

// An author that is another node's client is made of the node's number and the client's, and
// below 0.
const authorBits = 48

// authorAt is the author of changes by a client of another node, for store.Unit.By; by one
// of this node, if node is "".
func (ts *trackers) authorAt(node string, client int64) int64 {
	if node == "" || client == 0 {
		return client
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.numberOf(node)<<authorBits | client&(1<<authorBits-1)
}

// authorFor is an author as its own node knows it; 0 at others.
func (ts *trackers) authorFor(k *remoteTracker, author int64) int64 {
	if author < 0 && author>>authorBits == k.number {
		return author & (1<<authorBits - 1)
	}
	return 0
}

// numberOf is a node's number, below 0; the lock is held.
func (ts *trackers) numberOf(node string) int64 {
	n, known := ts.numbers[node]
	if !known {
		n = -1 - int64(len(ts.numbers))
		ts.numbers[node] = n
	}
	return n
}

// enterNode notes that a key is about to be read for another node, if that asks what changes.
func (ts *trackers) enterNode(node string, key []byte) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if k := ts.remote[node]; k != nil && len(key) <= maxTrackedKey && !k.wants(key) {
		ts.enterLocked(k.number, key)
		ts.told()
	}
}

// drop forgets a remote tracker, and returns done with what does not wait for it any more. The lock
// is held.
func (ts *trackers) drop(k *remoteTracker, done []func()) []func() {
	delete(ts.remote, k.node)
	done = k.heard(k.queue.Last(), done)
	k.reply(heedLost)
	return done
}

// heard lets those go on who waited for the remote tracker to hear so much, and appends to done what
// they do.
func (k *remoteTracker) heard(number uint64, done []func()) []func() {
	k.queue.Heard(number)
	n := 0
	for ; n < len(k.waits) && k.waits[n].number <= number; n++ {
		w := k.waits[n].of
		if w.left--; w.left == 0 && w.done != nil {
			done = append(done, w.done)
		}
	}
	if k.waits = k.waits[n:]; len(k.waits) == 0 {
		k.waits = nil
	}
	return done
}

// answer tells the remote tracker what there is, if it waits for that.
func (k *remoteTracker) answer() {
	if k.parked != nil {
		k.reply(k.text())
	}
}

// reply answers what the remote tracker waits for, if it does.
func (k *remoteTracker) reply(text []byte) {
	if answer := k.parked; answer != nil {
		k.parked = nil
		respond(answer, text, StatusRun)
	}
}

// lookAtKeepers answers those that have waited for long and drops those that do not ask.
func (ts *trackers) lookAtKeepers() {
	var done []func()
	ts.mu.Lock()
	now := ts.srv.clock()
	for _, k := range ts.remote {
		switch {
		case now-k.heardAt > ts.lease+trackerLeaseMargin:
			ts.srv.log.Warn("a node has stopped asking for invalidations of its tracking clients", "node", k.node)
			done = ts.drop(k, done)
		case now-k.parkedAt >= heedBeat-trackLook/2:
			k.answer()
		}
	}
	if len(done) > 0 || len(ts.remote) == 0 {
		ts.adapt()
	}
	ts.mu.Unlock()
	run(done)
}
