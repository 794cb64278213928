package resp

import (
	"container/list"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Commands that wait for a key to get something: BLPOP and its like.
//
// Who waits is registered where the key is served, in the order of arrival. Whatever brings
// a key something serves those who wait for it, before anybody else can take it: behind each
// command of a unit, within the unit, under its latches (block_serve.go). They are told once the
// unit has settled. A client of this node waits on its connection (block_wait.go), one of another
// node is a remote waiter (remote block_waiter.go).
//
// Invariants:
//
//  1. While a waiter is registered under a key, there is nothing at the key that it wants:
//     it has looked, and has been registered, under the key's latch, and whoever brings
//     something holds that latch until the waiter is served.
//  2. A waiter ends once: it is claimed by the unit that serves it, or withdrawn by the
//     one that waits, under mu. Who has claimed it ends it; who cannot withdraw it waits for
//     that.
//  3. A waiter is registered only where its keys are served. It is registered before it is
//     looked whether the routes are still those of its unit; new routes are set before the
//     registered ones are looked through. So one of the two sees the other.
//  4. Nothing is called under mu that takes a lock or waits.

// blocked are the waiters of a server.
type blocked struct {
	queued atomic.Int64 // waiters that are registered
	movers atomic.Int64 // of these, the ones that write to other keys, too
	losers atomic.Int64 // and the ones that care if a key is gone

	mu     sync.Mutex
	keys   map[string]*list.List // of *waiter, by ticket
	ticket uint64                // the last one that was given out
	guests map[string]*remoteWaiter
	full   bool               // nobody else is let in: the server closes
	away   map[*conn]struct{} // connections that wait at other nodes
}

func (b *blocked) init() {
	b.keys = make(map[string]*list.List)
	b.guests = make(map[string]*remoteWaiter)
	b.away = make(map[*conn]struct{})
}

// far notes that a connection waits at another node.
func (b *blocked) far(c *conn, on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if on {
		b.away[c] = struct{}{}
	} else {
		delete(b.away, c)
	}
}

// register puts a waiter in line, behind all who came before it. It returns false if the
// server closes.
func (b *blocked) register(w *waiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full {
		return false
	}
	if w.ticket == 0 {
		// Tickets of all nodes are times, so that those that were given out elsewhere
		// keep their order here.
		b.ticket = max(b.ticket+1, uint64(time.Now().UnixNano()))
		w.ticket = b.ticket
	}
	w.state = waitQueued
	b.count(w, 1)
	for i, key := range w.Keys {
		if !w.repeats(i) {
			w.spots = append(w.spots, b.enqueue(key, w))
		}
	}
	return true
}

func (b *blocked) count(w *waiter, n int64) {
	b.queued.Add(n)
	if len(w.Also) > 0 {
		b.movers.Add(n)
	}
	if w.Gone != nil {
		b.losers.Add(n)
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

// take ends the registration of a waiter that is registered. mu is held.
func (b *blocked) take(w *waiter, next waitState) bool {
	if w.state != waitQueued {
		return false
	}
	w.state = next
	b.count(w, -1)
	at := 0
	for i, key := range w.Keys {
		if w.repeats(i) {
			continue
		}
		q := b.keys[string(key)]
		if q.Remove(w.spots[at]); q.Len() == 0 {
			delete(b.keys, string(key))
		}
		at++
	}
	w.spots = nil
	return true
}

// claim is for who is about to serve a waiter. It returns false if that does not wait any
// more.
func (b *blocked) claim(w *waiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.take(w, waitClaimed)
}

// withdraw is for who does not wait any more. It returns false if the waiter is just being
// served, or has ended.
func (b *blocked) withdraw(w *waiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.take(w, waitOver)
}

// awaited tells whether anybody waits for a key.
func (b *blocked) awaited(key []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.keys[string(key)] != nil
}

// next is who waits for a key and comes behind another, which may be gone by now; nil is
// before all.
func (b *blocked) next(key []byte, behind *waiter) *waiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.keys[string(key)]
	if q == nil {
		return nil
	}
	e := q.Front()
	if behind != nil {
		if behind.state == waitQueued {
			for i, at := 0, 0; i < len(behind.Keys); i++ {
				if behind.repeats(i) {
					continue
				}
				if string(behind.Keys[i]) == string(key) {
					e = behind.spots[at].Next()
					break
				}
				at++
			}
		} else {
			for e != nil && e.Value.(*waiter).ticket <= behind.ticket {
				e = e.Next()
			}
		}
	}
	if e == nil {
		return nil
	}
	return e.Value.(*waiter)
}

// first are up to n who wait for a key.
func (b *blocked) first(key []byte, n int) (first []*waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.keys[string(key)]; q != nil {
		for e := q.Front(); e != nil && len(first) < n; e = e.Next() {
			first = append(first, e.Value.(*waiter))
		}
	}
	return first
}

// sendAway has all waiters that match looked at again by who has sent them.
func (b *blocked) sendAway(match func(w *waiter) bool) { b.dismiss(waitAgain, "", match) }

// dismiss ends the waits of all that match.
func (b *blocked) dismiss(how waitEnd, msg string, match func(w *waiter) bool) {
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
	for _, w := range kept {
		w.end(how, msg)
	}
}

// rerouted sends those away whose keys are not this node's any more, and has those look who
// wait at other nodes.
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
