package resp

// A delivery is messages on their way to clients of this node. Many that are published
// together are queued first, and then leave with one write for each client.
//
// It belongs to one goroutine at a time.
type delivery struct {
	from  *conn   // who publishes, if that is a client: it may be among those who listen
	text  []byte  // the message, see appendMessage
	dirty []*conn // whose queues are to leave
	// queued is how many bytes of messages are to leave, each counted once.
	queued int
}

// queue queues the text for clients. The caller holds the lock of their topic.
func (m *delivery) queue(to []*conn) {
	m.queued += len(m.text)
	for _, c := range to {
		if c == m.from && c.session.replies == replyOn {
			// Its own messages come before the reply.
			at := len(c.out.Buf)
			c.out.Buf = append(c.out.Buf, m.text...)
			c.out.Buf[at] = pushMark(c.out.Proto)
			continue
		}
		if c.queuePush(m.text) {
			m.dirty = append(m.dirty, c)
		}
	}
}

// flush has what is queued leave. It does not wait.
func (m *delivery) flush() {
	for _, c := range m.dirty {
		c.kickPushes()
	}
	m.reset()
}

// reset forgets what has left, or will.
func (m *delivery) reset() {
	clear(m.dirty)
	m.dirty, m.queued = m.dirty[:0], 0
	if cap(m.text) > keepReply {
		m.text = nil
	}
}

// pushMark is the first byte of what is pushed.
func pushMark(proto int) byte {
	if proto == 3 {
		return '>'
	}
	return '*'
}
