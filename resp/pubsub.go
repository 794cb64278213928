package resp

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/resp/internal/glob"
	"github.com/ringside-kv/ringside/resp/wire"
)

// What is published goes to every node (see pubsub_publish.go), and there to the connections
// that have subscribed.

// A subKind is a kind of subscription. Each has names of its own.
type subKind int

const (
	subChannel subKind = iota
	subPattern
	subShard
	subKinds
)

// pubsub are the subscriptions of the clients of this node.
//
// Invariant: who is in a topic's list when a message is published has it in its queue before
// the publisher goes on, and nobody else does. So lists change under the lock, and messages
// are queued under it.
type pubsub struct {
	mu     sync.RWMutex
	topics [subKinds]map[string]*topic
	n      atomic.Int64 // subscriptions of all kinds
}

// A topic is a channel or a pattern with those who want its messages.
type topic struct {
	name  string
	conns []*conn
	place map[*conn]int // in conns
}

// subscriptionCost is about how much memory a subscription takes, beside its name.
const subscriptionCost = 256

// subscriptions are those of one client. What is no number is guarded by pubsub.mu.
type subscriptions struct {
	names [subKinds]map[string]struct{}
	bytes int64 // about, which count for the budget
	n     [subKinds]atomic.Int32
}

// count is the number that replies tell: channels and patterns are counted together.
func (s *subscriptions) count(kind subKind) int64 {
	if kind == subShard {
		return int64(s.n[subShard].Load())
	}
	return int64(s.n[subChannel].Load() + s.n[subPattern].Load())
}

// any tells whether there is a subscription of any kind.
func (s *subscriptions) any() bool {
	return s.n[subChannel].Load()+s.n[subPattern].Load()+s.n[subShard].Load() > 0
}

// add subscribes a client, which is not removed yet. It returns false if its subscriptions
// would take more memory than what may wait for it.
func (p *pubsub) add(c *conn, kind subKind, name []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := c.subs.names[kind]
	if _, known := names[string(name)]; known {
		return true
	}
	size := int64(len(name)) + subscriptionCost
	if c.subs.bytes+size > c.srv.settings.OutputBuffer.Load() {
		return false
	}
	c.subs.bytes += size
	c.srv.budget.take(c, size)
	t := p.topics[kind][string(name)]
	if t == nil {
		if p.topics[kind] == nil {
			p.topics[kind] = make(map[string]*topic)
		}
		t = &topic{name: string(name), place: make(map[*conn]int)}
		p.topics[kind][t.name] = t
	}
	if names == nil {
		names = make(map[string]struct{})
		c.subs.names[kind] = names
	}
	names[t.name] = struct{}{}
	t.place[c] = len(t.conns)
	t.conns = append(t.conns, c)
	c.subs.n[kind].Add(1)
	p.n.Add(1)
	return true
}

// remove ends a subscription, if there is one.
func (p *pubsub) remove(c *conn, kind subKind, name []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removeLocked(c, kind, string(name))
}

func (p *pubsub) removeLocked(c *conn, kind subKind, name string) {
	if _, known := c.subs.names[kind][name]; !known {
		return
	}
	delete(c.subs.names[kind], name)
	size := int64(len(name)) + subscriptionCost
	c.subs.bytes -= size
	c.srv.budget.release(c, size)
	c.subs.n[kind].Add(-1)
	p.n.Add(-1)
	t := p.topics[kind][name]
	at, last := t.place[c], len(t.conns)-1
	t.conns[at] = t.conns[last]
	t.place[t.conns[at]] = at
	t.conns[last] = nil
	t.conns = t.conns[:last]
	delete(t.place, c)
	if last == 0 {
		delete(p.topics[kind], name)
	}
}

// removeAll ends all subscriptions of a client, and reports whether there was one.
func (p *pubsub) removeAll(c *conn) bool {
	if !c.subs.any() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for kind := range subKinds {
		for name := range c.subs.names[kind] {
			p.removeLocked(c, kind, name)
		}
	}
	return true
}

// namesOf are the names of a client's subscriptions of a kind, in order.
func (p *pubsub) namesOf(c *conn, kind subKind) []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return sortedNames(c.subs.names[kind])
}

// active are the names of a kind that have a subscriber and match a pattern, nil for all.
func (p *pubsub) active(kind subKind, pattern []byte) []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var names []string
	for name := range p.topics[kind] {
		if pattern == nil || glob.Match(pattern, []byte(name), false) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// topicsOf is how many names of a kind have a subscriber.
func (p *pubsub) topicsOf(kind subKind) int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len(p.topics[kind])
}

// subscribers is how many clients have subscribed to a name.
func (p *pubsub) subscribers(kind subKind, name []byte) int64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if t := p.topics[kind][string(name)]; t != nil {
		return int64(len(t.conns))
	}
	return 0
}

// deliver queues a message for all of this node who want it, and returns how many times.
// The queues leave with the next kick of the delivery.
func (p *pubsub) deliver(m *delivery, kind subKind, channel, message []byte) int64 {
	if p.n.Load() == 0 {
		return 0
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	n := int64(0)
	if t := p.topics[kind][string(channel)]; t != nil {
		word := "message"
		if kind == subShard {
			word = "smessage"
		}
		m.text = appendMessage(m.text[:0], word, "", channel, message)
		m.queue(t.conns)
		n += int64(len(t.conns))
	}
	if kind != subChannel {
		return n
	}
	for _, t := range p.topics[subPattern] {
		if glob.Match([]byte(t.name), channel, false) {
			m.text = appendMessage(m.text[:0], "pmessage", t.name, channel, message)
			m.queue(t.conns)
			n += int64(len(t.conns))
		}
	}
	return n
}

// warn sends a message of a channel to all who listen to key events, whichever they are.
func (p *pubsub) warn(m *delivery, channel, message string) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	told := make(map[*conn]bool)
	for _, kind := range []subKind{subPattern, subChannel} {
		for name, t := range p.topics[kind] {
			if !forEvents(kind, name) {
				continue
			}
			if kind == subPattern {
				m.text = appendMessage(m.text[:0], "pmessage", name, []byte(channel), []byte(message))
			} else {
				m.text = appendMessage(m.text[:0], "message", "", []byte(channel), []byte(message))
			}
			for _, c := range t.conns {
				if !told[c] {
					told[c] = true
					m.queue([]*conn{c})
				}
			}
		}
	}
}

// forEvents tells whether a subscription may be to key events.
func forEvents(kind subKind, name string) bool {
	if kind == subPattern {
		literal := strings.IndexAny(name, `*?[\\`)
		if literal < 0 {
			literal = len(name)
		}
		name = name[:literal]
		return strings.HasPrefix("__key", name) || strings.HasPrefix(name, "__key")
	}
	return strings.HasPrefix(name, "__keyspace@0__:") || strings.HasPrefix(name, eventChannel)
}

// appendMessage appends a message as RESP3 has it: in RESP2 only its first byte is another.
func appendMessage(b []byte, word, pattern string, channel, message []byte) []byte {
	if pattern == "" && word != "pmessage" {
		b = append(b, ">3\r\n"...)
		b = wire.AppendBulkString(b, word)
	} else {
		b = append(b, ">4\r\n"...)
		b = wire.AppendBulkString(b, word)
		b = wire.AppendBulkString(b, pattern)
	}
	b = wire.AppendBulk(b, channel)
	return wire.AppendBulk(b, message)
}

func sortedNames(set map[string]struct{}) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
