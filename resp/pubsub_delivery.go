package resp

// keepText is how large a buffer for messages is kept.
const keepText = 64 << 10

// A delivery is messages on their way to clients of this node. Many that are published
// together are queued first, and then leave with one write for each client.
//
// It belongs to one goroutine at a time.
type delivery struct {
	// from is the client that publishes, nil if none does: it may be a subscriber, too. own takes
	// a message to it; it returns false if that is to be queued as for the others.
	from  *subscriptions
	own   func(text []byte) bool
	text  []byte       // the message, see appendMessage
	dirty []subscriber // whose queues are to leave
	// queued is how many bytes of messages are to leave, each counted once.
	queued int
}

// queue queues the text for clients. The caller holds the lock of their topic.
func (m *delivery) queue(to []*subscriptions) {
	m.queued += len(m.text)
	for _, s := range to {
		if s == m.from && m.own(m.text) {
			continue
		}
		if s.client.queue(m.text) {
			m.dirty = append(m.dirty, s.client)
		}
	}
}

// flush has what is queued leave. It does not wait.
func (m *delivery) flush() {
	for _, c := range m.dirty {
		c.kick()
	}
	m.reset()
}

// reset forgets what has left, or will.
func (m *delivery) reset() {
	clear(m.dirty)
	m.dirty, m.queued = m.dirty[:0], 0
	if cap(m.text) > keepText {
		m.text = nil
	}
}
