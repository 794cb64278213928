package stream

import (
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"net"
)

// A queue holds frames that wait to be written. Short ones are packed together; long bodies are
// written from where they are.
type queue struct {
	parts net.Buffers
	open  bool // the last part belongs to the queue and may grow
}

// firstPart is the size of the first buffer of a queue: most queues are taken with one or two
// short frames in it.
const firstPart = 2 << 10

// add appends a frame. It keeps body.
func (o *queue) add(kind frame.Kind, head, body []byte) {
	need := frame.HeadSize + len(head)
	if len(body) < frame.LongBody {
		need += len(body)
	}
	last := len(o.parts) - 1
	if !o.open || len(o.parts[last])+need > cap(o.parts[last]) {
		size := frame.PartSize
		if last < 0 {
			size = firstPart
		}
		o.parts = append(o.parts, make([]byte, 0, max(need, size)))
		o.open = true
		last++
	}
	p := append(frame.AppendHead(o.parts[last], kind, len(head)+len(body)), head...)
	if len(body) < frame.LongBody {
		o.parts[last] = append(p, body...)
		return
	}
	o.parts[last] = p
	o.parts = append(o.parts, body)
	o.open = false
}

// take empties the queue.
func (o *queue) take() net.Buffers {
	parts := o.parts
	*o = queue{}
	return parts
}
