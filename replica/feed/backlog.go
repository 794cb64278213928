package feed

import (
	"encoding/binary"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"net"
)

// A backlog holds the unacknowledged frames of a session as they are written. Short bodies are
// packed together; long ones stay where they are. Frames are written in order, perhaps several
// times, and dropped once acknowledged. The caller locks it.
type backlog struct {
	parts   []backlogPart
	dropped uint64 // number of parts dropped before the first
	bytes   int64
	spare   [][]byte // memory of dropped parts, for reuse
}

// spareParts bounds the memory that is kept for reuse.
const spareParts = 8

type backlogPart struct {
	buf    []byte // whole frames, without the body of the last one if that is long
	body   []byte
	first  uint64 // number of its first frame
	last   uint64
	sealed bool // no frame is added any more
}

// A backlogPosition is a part, counted from the first ever, and an offset in it.
type backlogPosition struct {
	part   uint64
	offset int
}

// add appends a frame. It keeps the body.
func (b *backlog) add(f *feedFrame) {
	head, body := f.head(), f.content()
	need := frame.HeadSize + feedHeadSize
	if len(body) < frame.LongBody {
		need += len(body)
	}
	last := len(b.parts) - 1
	if last < 0 || b.parts[last].sealed || len(b.parts[last].buf)+need > cap(b.parts[last].buf) {
		if last >= 0 {
			b.parts[last].sealed = true
		}
		b.parts = append(b.parts, backlogPart{buf: b.room(need), first: f.seq})
		last++
	}
	p := &b.parts[last]
	p.buf = append(frame.AppendHead(p.buf, f.kind, feedHeadSize+len(body)), head[:]...)
	if len(body) < frame.LongBody {
		p.buf = append(p.buf, body...)
	} else {
		p.body, p.sealed = body, true
	}
	p.last = f.seq
	b.bytes += int64(frame.HeadSize + feedHeadSize + len(body))
}

// room returns memory for a part.
func (b *backlog) room(need int) []byte {
	if n := len(b.spare); n > 0 && need <= frame.PartSize {
		buf := b.spare[n-1]
		b.spare = b.spare[:n-1]
		return buf
	}
	return make([]byte, 0, max(need, frame.PartSize))
}

// dropAcked drops the parts whose frames are all acknowledged.
func (b *backlog) dropAcked(k uint64) {
	n := 0
	for n < len(b.parts) && b.parts[n].last <= k {
		b.bytes -= int64(len(b.parts[n].buf) + len(b.parts[n].body))
		// An acknowledged part has been written completely, so its memory is free.
		if buf := b.parts[n].buf; cap(buf) == frame.PartSize && len(b.spare) < spareParts {
			b.spare = append(b.spare, buf[:0])
		}
		b.parts[n] = backlogPart{}
		n++
	}
	b.parts = b.parts[n:]
	b.dropped += uint64(n)
	if len(b.parts) == 0 {
		b.parts = nil
	}
}

// positionAfter returns the position behind a frame.
func (b *backlog) positionAfter(k uint64) backlogPosition {
	for i := range b.parts {
		p := &b.parts[i]
		if p.last <= k {
			continue
		}
		at := 0
		for n := p.first; n <= k; n++ {
			at += 4 + int(binary.BigEndian.Uint32(p.buf[at:]))
		}
		return backlogPosition{b.dropped + uint64(i), at}
	}
	return backlogPosition{b.dropped + uint64(len(b.parts)), 0}
}

// buffersFrom returns the bytes from a position on, up to the frame limit, and the position where
// they end.
func (b *backlog) buffersFrom(at backlogPosition, limit uint64) (out net.Buffers, next backlogPosition) {
	if at.part < b.dropped {
		at = backlogPosition{b.dropped, 0} // the bytes before it are acknowledged
	}
	for i := int(at.part - b.dropped); i < len(b.parts); i++ {
		p := &b.parts[i]
		if p.first > limit {
			break
		}
		if p.last > limit {
			end := b.positionAfter(limit)
			if end.part == at.part && end.offset > at.offset {
				out = append(out, p.buf[at.offset:end.offset:end.offset])
				at = end
			}
			break
		}
		end := len(p.buf)
		if at.offset < end {
			out = append(out, p.buf[at.offset:end:end])
			if p.body != nil {
				out = append(out, p.body)
			}
		}
		if p.sealed {
			at = backlogPosition{at.part + 1, 0}
			continue
		}
		at.offset = end
	}
	return out, at
}
