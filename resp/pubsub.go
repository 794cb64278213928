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
// Invariant: a message is in the queues of the clients that are in its topic's list when it is
// published, and of no others, before the publisher goes on. So lists change under the lock, and
// messages are queued under it.
type pubsub struct {
	mu     sync.RWMutex
	topics [subKinds]map[string]*topic
	n      atomic.Int64 // subscriptions of all kinds
}

// A topic is a channel or a pattern with its subscribers.
type topic struct {
	name  string
	subs  []*subscriptions
	place map[*subscriptions]int // in subs
}

// subscriptionCost is about how much memory a subscription takes, beside its name.
const subscriptionCost = 256

// A subscriber is a client as its subscriptions see it. Any goroutine may call its methods, none of
// which waits.
type subscriber interface {
	// queue queues a message as appendMessage makes it. The caller that gets true has to call
	// kick, which has the queue written.
	queue(message []byte) bool
	kick()
	// limit is how many bytes subscriptions may take; charge and release count them.
	limit() int64
	charge(n int64)
	release(n int64)
}

// subscriptions are those of one client. What is not a number is guarded by pubsub.mu.
type subscriptions struct {
	client subscriber
	names  [subKinds]map[string]struct{}
	bytes  int64 // about, which count for the budget
	n      [subKinds]atomic.Int32
}

// count is the number that replies tell: channels and patterns are counted together.
func (s *subscriptions) count(kind subKind) int64 {
	if kind == subShard {
		return int64(s.n[subShard].Load())
	}
	return int64(s.n[subChannel].Load() + s.n[subPattern].Load())
}

// of is the number of subscriptions of a kind.
func (s *subscriptions) of(kind subKind) int32 { return s.n[kind].Load() }

// any reports whether there is a subscription of any kind.
func (s *subscriptions) any() bool {
	return s.n[subChannel].Load()+s.n[subPattern].Load()+s.n[subShard].Load() > 0
}

// add subscribes a client, which is not removed yet. It returns false if its subscriptions
// would take more memory than what may wait for it.
func (p *pubsub) add(s *subscriptions, kind subKind, name []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := s.names[kind]
	if _, known := names[string(name)]; known {
		return true
	}
	size := int64(len(name)) + subscriptionCost
	if s.bytes+size > s.client.limit() {
		return false
	}
	s.bytes += size
	s.client.charge(size)
	t := p.topics[kind][string(name)]
	if t == nil {
		if p.topics[kind] == nil {
			p.topics[kind] = make(map[string]*topic)
		}
		t = &topic{name: string(name), place: make(map[*subscriptions]int)}
		p.topics[kind][t.name] = t
	}
	if names == nil {
		names = make(map[string]struct{})
		s.names[kind] = names
	}
	names[t.name] = struct{}{}
	t.place[s] = len(t.subs)
	t.subs = append(t.subs, s)
	s.n[kind].Add(1)
	p.n.Add(1)
	return true
}

// remove ends a subscription, if there is one.
func (p *pubsub) remove(s *subscriptions, kind subKind, name []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removeLocked(s, kind, string(name))
}

func (p *pubsub) removeLocked(s *subscriptions, kind subKind, name string) {
	if _, known := s.names[kind][name]; !known {
		return
	}
	delete(s.names[kind], name)
	size := int64(len(name)) + subscriptionCost
	s.bytes -= size
	s.client.release(size)
	s.n[kind].Add(-1)
	p.n.Add(-1)
	t := p.topics[kind][name]
	at, last := t.place[s], len(t.subs)-1
	t.subs[at] = t.subs[last]
	t.place[t.subs[at]] = at
	t.subs[last] = nil
	t.subs = t.subs[:last]
	delete(t.place, s)
	if last == 0 {
		delete(p.topics[kind], name)
	}
}

// removeAll ends all subscriptions of a client, and reports whether there was one.
func (p *pubsub) removeAll(s *subscriptions) bool {
	if !s.any() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for kind := range subKinds {
		for name := range s.names[kind] {
			p.removeLocked(s, kind, name)
		}
	}
	return true
}

// namesOf are the names of a client's subscriptions of a kind, in order.
func (p *pubsub) namesOf(s *subscriptions, kind subKind) []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return sortedNames(s.names[kind])
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
		return int64(len(t.subs))
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
		m.queue(t.subs)
		n += int64(len(t.subs))
	}
	if kind != subChannel {
		return n
	}
	for _, t := range p.topics[subPattern] {
		if glob.Match([]byte(t.name), channel, false) {
			m.text = appendMessage(m.text[:0], "pmessage", t.name, channel, message)
			m.queue(t.subs)
			n += int64(len(t.subs))
		}
	}
	return n
}

// warn sends a message of a channel to all who listen to key events, whichever they are.
func (p *pubsub) warn(m *delivery, channel, message string) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	told := make(map[*subscriptions]bool)
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
			for _, s := range t.subs {
				if !told[s] {
					told[s] = true
					m.queue([]*subscriptions{s})
				}
			}
		}
	}
}

// forEvents reports whether a subscription may be to key events.
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

// isEmpty reports whether there is no subscription at all.
func (p *pubsub) isEmpty() bool { return p.n.Load() == 0 }

// listening is how many of this node's subscriptions a message would go to.
func (p *pubsub) listening(kind subKind, channel []byte) (n int64) {
	if p.n.Load() == 0 {
		return 0
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if t := p.topics[kind][string(channel)]; t != nil {
		n += int64(len(t.subs))
	}
	if kind != subChannel {
		return n
	}
	for _, t := range p.topics[subPattern] {
		if glob.Match([]byte(t.name), channel, false) {
			n += int64(len(t.subs))
		}
	}
	return n
}
