package resp

import (
	"container/list"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Blocking commands (BLPOP and its like) wait until a key has something for them.
//
// A waiter is registered at the node that owns its keys, in the order of arrival; commands that have come through the
// same node keep the order in which their turns came there. A unit that writes
// to such a key serves its waiters before any other command can take what was written: after each
// command, within the unit, under its latches (block_serve.go). A waiter is told once the unit has
// settled. A client of this node waits on its connection (block_sleep.go), a client of another node
// is a remote waiter (block_remote_waiter.go, and block_at_owner.go at the client's node).
//
// Handoff: new routes end the waits on keys that left this node ([blocked.rerouted]). The command
// keeps its ticket, so its place in the queue ([waitProgress]), and is routed to the new owner.
//
// Invariants:
//
//  1. While a waiter is registered under a key, the key holds nothing that it wants: its command
//     looked and registered under the key's latch, and a unit that writes to the key holds that
//     latch until it has served the waiter.
//  2. A waiter ends once. Under mu it is either claimed by the unit that serves it, or withdrawn by
//     its own command. The one that claims it ends it; a command that cannot withdraw waits for
//     that end.
//  3. A waiter is registered only where its keys are owned. A command registers first and compares
//     the routes with those of its unit afterwards; new routes are stored first and the waiters
//     searched afterwards. So one of the two sees the other.
//  4. Nothing is called under mu that takes a lock or waits.

// blocked holds the waiters of a server.
type blocked struct {
	queued      atomic.Int64 // waiters that are registered
	withTargets atomic.Int64 // of these, those that write to other keys, too
	onDeletion  atomic.Int64 // and those that end when a key is deleted
	turns       atomic.Uint64

	mu     sync.Mutex
	keys   map[string]*list.List // of *waiter, by ticket
	ticket uint64                // the last one that was given out
	order  uint64                // the last waiter.order
	remote map[string]*remoteWaiter
	full   bool               // the server closes: no waiter is registered any more
	away   map[*conn]struct{} // connections that wait at other nodes
}

func (b *blocked) init() {
	b.keys = make(map[string]*list.List)
	b.remote = make(map[string]*remoteWaiter)
	b.away = make(map[*conn]struct{})
}

// setAway notes whether a connection waits at another node.
func (b *blocked) setAway(c *conn, on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if on {
		b.away[c] = struct{}{}
	} else {
		delete(b.away, c)
	}
}

// register puts a waiter into the queues of its keys, in the order of tickets. It returns false if
// the server closes.
func (b *blocked) register(w *waiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full {
		return false
	}
	if w.ticket == 0 {
		// Tickets are times, so that waiters of different nodes keep their order.
		b.ticket = max(b.ticket+1, uint64(time.Now().UnixNano()))
		w.ticket = b.ticket
		b.restoreOrder(w)
	}
	b.order++
	w.order = b.order // behind those of its ticket, as enqueue puts it
	w.state = waitQueued
	b.count(w, 1)
	w.spots = make([]*list.Element, len(w.Keys))
	for i, key := range w.Keys {
		if !w.repeats(i) {
			w.spots[i] = b.enqueue(key, w)
		}
	}
	return true
}

// restoreOrder gives a waiter a ticket before those of later commands that have come through the same node: the
// goroutines and connections by which commands go may have changed their order. Waiters of other nodes that are before
// those stay before this one. mu is held.
func (b *blocked) restoreOrder(w *waiter) {
	for _, key := range w.Keys {
		q := b.keys[string(key)]
		if q == nil || w.turn == 0 {
			continue
		}
		e := q.Back()
		for looked := 0; e != nil && looked < maxLooked; e, looked = e.Prev(), looked+1 {
			if v := e.Value.(*waiter); v.run == w.run && v.turn > w.turn {
				w.ticket = min(w.ticket, v.ticket-1)
			}
		}
	}
}

func (b *blocked) count(w *waiter, n int64) {
	b.queued.Add(n)
	if len(w.Also) > 0 {
		b.withTargets.Add(n)
	}
	if w.Gone != nil {
		b.onDeletion.Add(n)
	}
}

func (b *blocked) enqueue(key []byte, w *waiter) *list.Element {
	q := b.keys[string(key)]
	if q == nil {
		q = list.New()
		b.keys[string(key)] = q
	}
	for e := q.Back(); e != nil; e = e.Prev() {
		if e.Value.(*waiter).ticket <= w.ticket {
			return q.InsertAfter(w, e)
		}
	}
	return q.PushFront(w)
}

// take removes a waiter from its queues. It returns false if the waiter is in none. mu is held.
func (b *blocked) take(w *waiter, next waitState) bool {
	if w.state != waitQueued {
		return false
	}
	w.state = next
	w.Alarm.Stop()
	b.count(w, -1)
	for i, spot := range w.spots {
		if spot == nil {
			continue
		}
		q := b.keys[string(w.Keys[i])]
		if q.Remove(spot); q.Len() == 0 {
			delete(b.keys, string(w.Keys[i]))
		}
	}
	w.spots = nil
	return true
}

// claim removes a waiter that the caller is about to serve. It returns false if the waiter does not
// wait any more.
func (b *blocked) claim(w *waiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.take(w, waitClaimed)
}

// withdraw removes a waiter whose command gives up. It returns false if the waiter is being served,
// or has ended.
func (b *blocked) withdraw(w *waiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.take(w, waitOver)
}

// hasWaiters reports whether a command waits for a key.
func (b *blocked) hasWaiters(key []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.keys[string(key)] != nil
}

// next returns the waiter for a key after another one, which may have ended by now, or the first
// one if behind is nil. It returns nil if there is none.
func (b *blocked) next(key []byte, behind *waiter) *waiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.keys[string(key)]
	if q == nil {
		return nil
	}
	e := q.Front()
	if behind != nil && behind.state == waitQueued {
		i := slices.IndexFunc(behind.Keys, func(k []byte) bool { return string(k) == string(key) })
		e = behind.spots[i].Next()
	} else if behind != nil {
		for e != nil && !behind.isBefore(e.Value.(*waiter)) {
			e = e.Next()
		}
	}
	if e == nil {
		return nil
	}
	return e.Value.(*waiter)
}

// isBefore reports whether a waiter comes before another one in the queues of both, or came before it. Some have the same
// ticket: those that restoreOrder puts before the same one.
func (w *waiter) isBefore(v *waiter) bool {
	return w.ticket < v.ticket || w.ticket == v.ticket && w.order < v.order
}

// movers returns the first n waiters for a key that take something from it to another key, those before
// them that move something within the key, and no one behind maxLooked others.
func (b *blocked) movers(key []byte, n int) (movers []*waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.keys[string(key)]
	if q == nil {
		return nil
	}
	for e, looked := q.Front(), 0; e != nil && n > 0 && looked < maxLooked; e, looked = e.Next(), looked+1 {
		w := e.Value.(*waiter)
		if len(w.Also) == 0 {
			continue
		}
		if movers = append(movers, w); string(w.Also[0]) != string(key) {
			n--
		}
	}
	return movers
}

// sendAway ends the waits that match; their commands are routed again.
func (b *blocked) sendAway(match func(w *waiter) bool) {
	for _, w := range b.claimAll(match) {
		w.end(waitAgain, "")
	}
}

// dismissGone ends the waits that match and end when their keys are deleted.
func (b *blocked) dismissGone(match func(w *waiter) bool) {
	for _, w := range b.claimAll(func(w *waiter) bool { return w.Gone != nil && match(w) }) {
		if w.isAllowed() {
			w.end(waitFailed, w.Gone(w.Keys[0], false))
		} else {
			w.end(waitAgain, "")
		}
	}
}

// claimAll removes the waiters that match. The caller ends them.
func (b *blocked) claimAll(match func(w *waiter) bool) []*waiter {
	var away []*waiter
	b.mu.Lock()
	seen := make(map[*waiter]bool)
	for _, q := range b.keys {
		for e := q.Front(); e != nil; e = e.Next() {
			if w := e.Value.(*waiter); !seen[w] {
				if seen[w] = true; match(w) {
					away = append(away, w)
				}
			}
		}
	}
	kept := away[:0]
	for _, w := range away {
		if b.take(w, waitClaimed) {
			kept = append(kept, w)
		}
	}
	b.mu.Unlock()
	return kept
}

// rerouted applies new routes: it ends the waits on keys that this node does not own any more, and
// wakes the connections that wait at other nodes, so that they compare the owner.
func (b *blocked) rerouted(routes *Routes) {
	if b.queued.Load() > 0 {
		b.sendAway(func(w *waiter) bool { return !w.at(routes) })
	}
	b.mu.Lock()
	conns := slices.Collect(maps.Keys(b.away))
	b.mu.Unlock()
	for _, c := range conns {
		c.wake()
	}
}
