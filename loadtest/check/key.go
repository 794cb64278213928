package check

import (
	"math"
	"slices"
	"time"
)

const (
	never   = time.Duration(math.MinInt64)
	forever = time.Duration(math.MaxInt64)

	// maxWrites is how many writes of a key are known at a time, but for those on their
	// way. It takes many with an unknown outcome, or a client that waits for long, to get
	// there; the key is judged less strictly then.
	maxWrites = 256
)

// A write is one whose value, or absence of a value, may be seen.
type write struct {
	client uint32
	number uint64
	kind   Kind
	lost   bool // nobody waits for its answer any more
	began  time.Duration
	acked  time.Duration // forever if it is not
	ttl    time.Duration // 0: for good
}

// A key is what is known of one. Its stripe's lock protects it.
type key struct {
	writes []write // those that may be seen, and DELs
	// floor is the latest beginning of a write that is acknowledged: what was
	// acknowledged before it cannot be seen by who begins now.
	floor time.Duration

	incrBegun, incrAcked int64

	known   bool // somebody has begun to write it
	tainted bool // something happened that is not understood
	loose   bool // some writes that may be seen have been forgotten
	zero    bool // it was 0 before anybody counted
	number  bool // somebody counts, or wrote 0
	reset   bool // something that is no INCR may have changed the number

	room [1]write // for writes, of which there is one most of the time
}

func (k *key) init() {
	k.known, k.floor, k.writes = true, never, k.room[:0]
}

// find is where a write is, -1 if it is not known.
func (k *key) find(client uint32, number uint64) int {
	for i := range k.writes {
		if w := &k.writes[i]; w.number == number && w.client == client {
			return i
		}
	}
	return -1
}

func (k *key) begin(w write) {
	switch {
	case w.kind == Zero:
		k.reset = k.reset || k.incrBegun > 0
		k.number = true
	default:
		k.reset = true
	}
	k.writes = append(k.writes, w)
	if len(k.writes) > maxWrites {
		k.forget()
	}
}

// acknowledge takes in that a write is done, and drops those that nobody can see any more:
// nobody is on the way who began before low.
func (k *key) acknowledge(client uint32, number uint64, now, low time.Duration) {
	i := k.find(client, number)
	if i < 0 {
		return // forgotten
	}
	w := &k.writes[i]
	if w.kind == Zero && !k.reset {
		k.zero = true
	}
	w.acked = now
	k.floor = max(k.floor, w.began)
	if len(k.writes) > 1 {
		k.prune(low)
	}
}

func (k *key) prune(low time.Duration) {
	floor := never
	for i := range k.writes {
		if w := &k.writes[i]; w.acked < low {
			floor = max(floor, w.began)
		}
	}
	k.writes = slices.DeleteFunc(k.writes, func(w write) bool { return w.acked < floor })
}

// abandon takes in that the outcome of a write is unknown: it may be seen at any time, for
// the first time.
func (k *key) abandon(client uint32, number uint64) {
	i := k.find(client, number)
	if i < 0 {
		return
	}
	w := &k.writes[i]
	w.lost = true
	if w.kind == Zero {
		k.reset = true
	}
}

// refuse takes in that a write was not executed.
func (k *key) refuse(client uint32, number uint64) {
	if i := k.find(client, number); i >= 0 {
		k.writes = slices.Delete(k.writes, i, i+1)
	}
}

// forget drops what a key may be judged without.
func (k *key) forget() {
	k.writes = slices.DeleteFunc(k.writes, func(w write) bool { return w.lost || w.acked < k.floor })
	k.loose = true
}
