package pubsub

// keepText is how large a buffer for messages is kept.
const keepText = 64 << 10

// A Delivery is messages on their way to clients of this node. Many that are published
// together are queued first, and then leave with one write for each client.
//
// It belongs to one goroutine at a time.
type Delivery struct {
	// From is the client that publishes, or nil: it may be a subscriber, too. Own keeps a
	// message for it until it has its reply, or returns false if the message is to be queued as for others.
	From  *Subscriptions
	Own   func(text []byte) bool
	text  []byte       // the message, see appendMessage
	dirty []Subscriber // whose queues are to leave
	// queued is how many bytes of messages are to leave, each counted once.
	queued int
}

// queue queues the text for clients. The caller holds the lock of their topic.
func (m *Delivery) queue(to []*Subscriptions) {
	m.queued += len(m.text)
	for _, s := range to {
		if s == m.From && m.Own(m.text) {
			continue
		}
		if s.Client.Queue(m.text) {
			m.dirty = append(m.dirty, s.Client)
		}
	}
}

// Flush has what is queued leave. It does not wait.
func (m *Delivery) Flush() {
	for _, c := range m.dirty {
		c.Kick()
	}
	m.reset()
}

// reset forgets what has left, or will.
func (m *Delivery) reset() {
	clear(m.dirty)
	m.dirty, m.queued = m.dirty[:0], 0
	if cap(m.text) > keepText {
		m.text = nil
	}
}
