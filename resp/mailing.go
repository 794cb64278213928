package resp

// A mailing is messages on their way to clients of this node. Many that are published
// together are queued first, and then leave with one write for each client.
//
// It belongs to one goroutine at a time.
type mailing struct {
	from  *conn   // who publishes, if that is a client: it may be among those who listen
	text  []byte  // the message, see appendMessage
	dirty []*conn // whose queues are to leave
}

// post queues the text for clients. The caller holds the lock of their topic.
func (m *mailing) post(to []*conn) {
	for _, c := range to {
		if c == m.from && c.session.replies == replyOn {
			// Its own messages come before the reply.
			at := len(c.out.buf)
			c.out.buf = append(c.out.buf, m.text...)
			c.out.buf[at] = pushMark(c.out.proto)
			continue
		}
		if c.queuePush(m.text) {
			m.dirty = append(m.dirty, c)
		}
	}
}

// kick has what is queued leave. It does not wait.
func (m *mailing) kick() {
	for i, c := range m.dirty {
		c.kickPushes()
		m.dirty[i] = nil
	}
	m.dirty = m.dirty[:0]
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
