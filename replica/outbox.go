package replica

import "net"

// An outbox is frames that wait to be written. What is short is put together; what is
// long is written from where it is.
type outbox struct {
	parts net.Buffers
	open  bool // the last part is the outbox's own, and may grow
}

// add appends a frame. It keeps body.
func (o *outbox) add(kind frameKind, head, body []byte) {
	need := frameHead + len(head)
	if len(body) < outboxLong {
		need += len(body)
	}
	last := len(o.parts) - 1
	if !o.open || len(o.parts[last])+need > cap(o.parts[last]) {
		o.parts = append(o.parts, make([]byte, 0, max(need, outboxPart)))
		o.open = true
		last++
	}
	p := append(frameStart(o.parts[last], kind, len(head)+len(body)), head...)
	if len(body) < outboxLong {
		o.parts[last] = append(p, body...)
		return
	}
	o.parts[last] = p
	o.parts = append(o.parts, body)
	o.open = false
}

// take empties the outbox.
func (o *outbox) take() net.Buffers {
	parts := o.parts
	*o = outbox{}
	return parts
}
