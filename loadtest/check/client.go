package check

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

// An Answer is what came back.
type Answer struct {
	Outcome result.Outcome
	// Integer is the reply of a command that has a number.
	Integer int64
	// Values are the strings of a reply; nil is Redis' nil.
	Values [][]byte
}

// A Client takes what one connection sends, in order, and what comes back, in the same
// order. It belongs to one goroutine. All clients of a model tell times of the same clock.
type Client struct {
	m      *Model
	number uint32
	oldest atomic.Int64 // when the oldest began that is on the way; forever if none is

	queue []pending
	marks []mark
	first int // of queue
	mark  int // of marks

	reads atomic.Int64
	found [verdicts]atomic.Int64
}

// A pending command is on the way.
type pending struct {
	kind  Kind
	write uint64
	began time.Duration
	keys  int
}

// A mark is what was certain of a key when a command began.
type mark struct {
	number int64
	key    *key // nil: nobody had written it
	floor  time.Duration
	acked  int64 // INCRs
}

// Client returns one that stamps its writes with a number, below [Config.Clients]. Several
// may have the same number if their writes do not. It is forgotten never.
func (m *Model) Client(number int) *Client {
	c := &Client{m: m, number: uint32(number)}
	c.oldest.Store(int64(forever))
	m.mu.Lock()
	m.clients = append(m.clients[:len(m.clients):len(m.clients)], c)
	m.mu.Unlock()
	return c
}

// Begin takes a command that is about to be sent, and must be called before any of it is.
// now is not later than that.
func (c *Client) Begin(kind Kind, op *workload.Op, now time.Duration) {
	if c.first == len(c.queue) {
		c.queue, c.marks, c.first, c.mark = c.queue[:0], c.marks[:0], 0, 0
		c.oldest.Store(int64(now))
	} else if c.first > 4096 {
		c.compact()
	}
	if kind == Ignored {
		c.queue = append(c.queue, pending{began: now})
		return
	}
	if kind == Other && len(op.Keys) == 0 {
		c.m.blind.Store(true)
	}
	w := write{client: c.number, number: op.Write, kind: kind, began: now, acked: forever}
	if kind.writes() {
		c.m.begun[c.number].Store(op.Write)
		if kind == Set && len(op.Keys) == 1 && len(op.Args) == 5 { // SET key value PX milliseconds
			ms, _ := strconv.ParseInt(string(op.Args[4]), 10, 64)
			w.ttl = time.Duration(ms) * time.Millisecond
		}
	}
	c.queue = append(c.queue, pending{kind, op.Write, now, len(op.Keys)})
	for _, number := range op.Keys {
		c.marks = append(c.marks, c.m.begin(number, kind, w))
	}
}

func (m *Model) begin(number int64, kind Kind, w write) mark {
	s := m.keys.stripe(number)
	s.mu.Lock()
	defer s.mu.Unlock()
	k := m.keys.find(number, kind != Get && kind != Exists)
	if k == nil {
		return mark{number: number, floor: never}
	}
	before := mark{number, k, k.floor, k.incrAcked}
	switch {
	case kind == Other:
		k.tainted, k.writes = true, nil
	case kind == Incr:
		k.incrBegun++
		k.number = true
	case kind.writes() && !k.tainted:
		if k.find(w.client, w.number) < 0 { // MSET may name a key twice
			k.begin(w)
		}
	}
	return before
}

func (c *Client) compact() {
	c.queue = append(c.queue[:0], c.queue[c.first:]...)
	c.marks = append(c.marks[:0], c.marks[c.mark:]...)
	c.first, c.mark = 0, 0
}

// End takes what has become of the oldest command on its way. now is not earlier than the
// answer. The answer is not kept.
func (c *Client) End(a *Answer, now time.Duration) {
	p := c.queue[c.first]
	marks := c.marks[c.mark : c.mark+p.keys]
	c.first++
	c.mark += p.keys
	if p.kind != Ignored {
		c.judge(&p, marks, a, now)
		c.apply(&p, marks, a, now)
	}
	// From here on nothing is on the way that began earlier.
	if c.first < len(c.queue) {
		c.oldest.Store(int64(c.queue[c.first].began))
	} else {
		c.oldest.Store(int64(forever))
	}
}

// apply takes in what was written.
func (c *Client) apply(p *pending, marks []mark, a *Answer, now time.Duration) {
	if !p.kind.writes() && p.kind != Incr {
		return
	}
	outcome := a.Outcome
	if outcome == result.Wrong {
		outcome = result.Refused
	}
	switch {
	case p.kind == SetNX && outcome == result.Done && a.Integer == 0:
		outcome = result.Refused
	case outcome == result.Refused && p.keys > 1:
		outcome = result.Unknown // some nodes may have done their part
	}
	low := never
	if outcome == result.Done {
		low = c.m.watermark(now)
	}
	for i := range marks {
		k, s := marks[i].key, c.m.keys.stripe(marks[i].number)
		s.mu.Lock()
		switch {
		case p.kind == Incr && outcome == result.Done:
			k.incrAcked++
		case p.kind == Incr && outcome == result.Refused:
			k.incrBegun--
		case p.kind == Incr || k.tainted:
		case outcome == result.Done:
			k.acknowledge(c.number, p.write, now, low)
		case outcome == result.Refused:
			k.refuse(c.number, p.write)
		default:
			k.abandon(c.number, p.write)
		}
		s.mu.Unlock()
	}
}
