package pubsub

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/resp/internal/glob"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A Kind is a kind of subscription. Each has names of its own.
type Kind int

// The kinds: SUBSCRIBE, PSUBSCRIBE and SSUBSCRIBE.
const (
	Channel Kind = iota
	Pattern
	Shard
	kinds
)

// A Registry has the subscriptions of the clients of this node.
//
// Invariant: a message is in the queues of the clients that are in its topic's list when it is
// published, and of no others, before the publisher goes on. So lists change under the lock, and
// messages are queued under it.
type Registry struct {
	mu     sync.RWMutex
	topics [kinds]map[string]*topic
	n      atomic.Int64 // subscriptions of all kinds
}

// A topic is a channel or a pattern with its subscribers.
type topic struct {
	name  string
	subs  []*Subscriptions
	place map[*Subscriptions]int // in subs
}

// subscriptionCost is about how much memory a subscription takes, beside its name.
const subscriptionCost = 256

// A Subscriber is a client as its subscriptions see it. Any goroutine may call its methods, none of
// which waits.
type Subscriber interface {
	// Queue queues a message as appendMessage makes it. The caller that gets true has to call
	// Kick, which has the queue written.
	Queue(message []byte) bool
	Kick()
	// Limit is how many bytes subscriptions may take; Charge and Release count them.
	Limit() int64
	Charge(n int64)
	Release(n int64)
}

// Subscriptions are those of one client. What is not a number is guarded by Registry.mu.
type Subscriptions struct {
	Client Subscriber
	names  [kinds]map[string]struct{}
	bytes  int64 // about, which count for the budget
	n      [kinds]atomic.Int32
}

// Count is the number that replies tell: channels and patterns are counted together.
func (s *Subscriptions) Count(kind Kind) int64 {
	if kind == Shard {
		return int64(s.n[Shard].Load())
	}
	return int64(s.n[Channel].Load() + s.n[Pattern].Load())
}

// Of is the number of subscriptions of a kind.
func (s *Subscriptions) Of(kind Kind) int32 { return s.n[kind].Load() }

// Any reports whether there is a subscription of any kind.
func (s *Subscriptions) Any() bool {
	return s.n[Channel].Load()+s.n[Pattern].Load()+s.n[Shard].Load() > 0
}

// Add subscribes a client, which is not removed yet. It returns false if its subscriptions
// would take more memory than what may wait for it.
func (p *Registry) Add(s *Subscriptions, kind Kind, name []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := s.names[kind]
	if _, known := names[string(name)]; known {
		return true
	}
	size := int64(len(name)) + subscriptionCost
	if s.bytes+size > s.Client.Limit() {
		return false
	}
	s.bytes += size
	s.Client.Charge(size)
	t := p.topics[kind][string(name)]
	if t == nil {
		if p.topics[kind] == nil {
			p.topics[kind] = make(map[string]*topic)
		}
		t = &topic{name: string(name), place: make(map[*Subscriptions]int)}
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

// Remove ends a subscription, if there is one.
func (p *Registry) Remove(s *Subscriptions, kind Kind, name []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removeLocked(s, kind, string(name))
}

func (p *Registry) removeLocked(s *Subscriptions, kind Kind, name string) {
	if _, known := s.names[kind][name]; !known {
		return
	}
	delete(s.names[kind], name)
	size := int64(len(name)) + subscriptionCost
	s.bytes -= size
	s.Client.Release(size)
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

// RemoveAll ends all subscriptions of a client, and reports whether there was one.
func (p *Registry) RemoveAll(s *Subscriptions) bool {
	if !s.Any() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for kind := range kinds {
		for name := range s.names[kind] {
			p.removeLocked(s, kind, name)
		}
	}
	return true
}

// NamesOf are the names of a client's subscriptions of a kind, in order.
func (p *Registry) NamesOf(s *Subscriptions, kind Kind) []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.names[kind]))
}

// Active are the names of a kind that have a subscriber and match a pattern, nil for all.
func (p *Registry) Active(kind Kind, pattern []byte) []string {
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

// TopicsOf is how many names of a kind have a subscriber.
func (p *Registry) TopicsOf(kind Kind) int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len(p.topics[kind])
}

// Subscribers is how many clients have subscribed to a name.
func (p *Registry) Subscribers(kind Kind, name []byte) int64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if t := p.topics[kind][string(name)]; t != nil {
		return int64(len(t.subs))
	}
	return 0
}

// Deliver queues a message for its subscribers at this node, and returns how many there are.
// The queues leave with the next Flush of the delivery.
func (p *Registry) Deliver(m *Delivery, kind Kind, channel, message []byte) int64 {
	if p.n.Load() == 0 {
		return 0
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	n := int64(0)
	if t := p.topics[kind][string(channel)]; t != nil {
		word := "message"
		if kind == Shard {
			word = "smessage"
		}
		m.text = appendMessage(m.text[:0], word, "", channel, message)
		m.queue(t.subs)
		n += int64(len(t.subs))
	}
	if kind != Channel {
		return n
	}
	for _, t := range p.topics[Pattern] {
		if glob.Match([]byte(t.name), channel, false) {
			m.text = appendMessage(m.text[:0], "pmessage", t.name, channel, message)
			m.queue(t.subs)
			n += int64(len(t.subs))
		}
	}
	return n
}

// Warn sends a message of a channel to all clients that have subscribed to any key events.
func (p *Registry) Warn(m *Delivery, channel, message string) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	told := make(map[*Subscriptions]bool)
	for _, kind := range []Kind{Pattern, Channel} {
		for name, t := range p.topics[kind] {
			if !forEvents(kind, name) {
				continue
			}
			if kind == Pattern {
				m.text = appendMessage(m.text[:0], "pmessage", name, []byte(channel), []byte(message))
			} else {
				m.text = appendMessage(m.text[:0], "message", "", []byte(channel), []byte(message))
			}
			for _, s := range t.subs {
				if !told[s] {
					told[s] = true
					m.queue([]*Subscriptions{s})
				}
			}
		}
	}
}

// forEvents reports whether a subscription may be to key events.
func forEvents(kind Kind, name string) bool {
	if kind == Pattern {
		literal := strings.IndexAny(name, `*?[\\`)
		if literal < 0 {
			literal = len(name)
		}
		name = name[:literal]
		return strings.HasPrefix("__key", name) || strings.HasPrefix(name, "__key")
	}
	return strings.HasPrefix(name, "__keyspace@") || strings.HasPrefix(name, "__keyevent@")
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

// Len is how many subscriptions there are.
func (p *Registry) Len() int64 { return p.n.Load() }

// Listening is how many of this node's subscriptions a message would go to.
func (p *Registry) Listening(kind Kind, channel []byte) (n int64) {
	if p.n.Load() == 0 {
		return 0
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if t := p.topics[kind][string(channel)]; t != nil {
		n += int64(len(t.subs))
	}
	if kind != Channel {
		return n
	}
	for _, t := range p.topics[Pattern] {
		if glob.Match([]byte(t.name), channel, false) {
			n += int64(len(t.subs))
		}
	}
	return n
}

// EventChannel is what the channel of an event begins with.
const EventChannel = "__keyevent@0__:"
