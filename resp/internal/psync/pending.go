package psync

import (
	"sync"
	"time"
)

// A place is a key of a database, by the number that clients know.
type place struct {
	database int
	key      string
}

// A keyState is what becomes of a key that has changed.
type keyState byte

const (
	queued  keyState = iota // it will be read
	reading                 // it is being read
	stale                   // it has changed since its read began: it will be read again
	resting                 // it was sent a moment ago, and waits until it may be read again, if it changes
)

// A waiting is a key that has changed, or has been sent a moment ago.
type waiting struct {
	place
	state   keyState
	changed bool // while it rested
	// epoch is that of the read.
	epoch uint64
}

const (
	// keyCost is about how much memory a key takes beside its name, in bytes.
	keyCost = 160
	// maxPending is how many bytes of keys may wait.
	maxPending = 256 << 20
	// keyRate bounds how many bytes per second are sent of one key, above restFrom bytes.
	keyRate  = 16 << 20
	restFrom = 64 << 10
)

// pending are the keys that have changed and were not sent yet. Its methods may be called from any goroutine, and do
// not wait for anything but its lock, apart from take.
type pending struct {
	mu     sync.Mutex
	filled *sync.Cond // there is something to take, or take is to end
	keys   map[place]*waiting
	queue  []*waiting
	bytes  int64
	open   bool // keys may be taken
	ended  bool
	// epoch rises when what is being read must not be sent any more.
	epoch uint64
}

func newPending() *pending {
	p := &pending{keys: make(map[place]*waiting)}
	p.filled = sync.NewCond(&p.mu)
	return p
}

// touch notes that a key has changed. It returns false if more keys wait than may.
func (p *pending) touch(at place) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.keys[at]
	if k == nil {
		k = &waiting{place: at}
		p.keys[at] = k
		p.bytes += keyCost + int64(len(at.key))
		p.enqueue(k)
		return p.bytes <= maxPending
	}
	switch k.state {
	case reading:
		k.state = stale
	case resting:
		k.changed = true
	}
	return true
}

// enqueue is for a caller that holds mu.
func (p *pending) enqueue(k *waiting) {
	k.state, k.changed = queued, false
	p.queue = append(p.queue, k)
	if p.open {
		p.filled.Signal()
	}
}

func (p *pending) remove(k *waiting) {
	delete(p.keys, k.place)
	p.bytes -= keyCost + int64(len(k.key))
}

// take waits for keys, and returns at most n of them, which are to be read; none at the end.
func (p *pending) take(n int, into []*waiting) []*waiting {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.ended && (!p.open || len(p.queue) == 0) {
		p.filled.Wait()
	}
	if p.ended {
		return nil
	}
	n = min(n, len(p.queue))
	into = append(into[:0], p.queue[:n]...)
	clear(p.queue[:n])
	if p.queue = p.queue[n:]; len(p.queue) == 0 {
		p.queue = nil
	}
	for _, k := range into {
		k.state, k.epoch = reading, p.epoch
	}
	return into
}

// current reports whether what was read of a key may be sent.
func (p *pending) current(k *waiting) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return k.epoch == p.epoch
}

// sent notes that so many bytes were sent of a key.
func (p *pending) sent(k *waiting, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k.changed = k.state == stale
	if bytes < restFrom {
		p.rested(k)
		return
	}
	k.state = resting
	time.AfterFunc(time.Duration(bytes)*time.Second/keyRate, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rested(k)
	})
}

func (p *pending) rested(k *waiting) {
	if k.changed {
		p.enqueue(k)
	} else {
		p.remove(k)
	}
}

// again has keys read once more, after a pause.
func (p *pending) again(keys []*waiting, pause time.Duration) {
	if len(keys) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if pause == 0 {
		for _, k := range keys {
			p.enqueue(k)
		}
		return
	}
	keys = append([]*waiting(nil), keys...)
	for _, k := range keys {
		k.state, k.changed = resting, true
	}
	time.AfterFunc(pause, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, k := range keys {
			p.rested(k)
		}
	})
}

// setOpen says whether keys may be taken.
func (p *pending) setOpen(open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = open
	p.filled.Broadcast()
}

// discard has nothing sent any more that is being read: it will be read again.
func (p *pending) discard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.epoch++
}

// end has take return.
func (p *pending) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.filled.Broadcast()
}

// count is how many keys wait, those included that rest.
func (p *pending) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.keys)
}
