package client

import (
	"fmt"
	"io"

	"github.com/ringside-kv/ringside/resp/wire"
)

const (
	// What a reply holds lies in one another so deep at most.
	maxReplyDepth = 64
	// elementCost is about what an element takes in memory, in bytes.
	elementCost = 96
	// What a length announces is made room for in steps, as it arrives.
	firstRoom     = 64 << 10 // bytes
	firstElements = 256
)

// okText is shared, since it is what most writes are answered with.
var okText = []byte("OK")

// A replyReader reads replies in RESP2 and RESP3 from a connection. It takes memory as
// bytes arrive, whatever they announce, and no more than so much for one reply. After
// an error it must not be used.
type replyReader struct {
	from       io.Reader
	most       int64  // bytes of a reply in memory
	waiting    func() // called before each read; may be nil
	buf        []byte
	start, end int
	left       int64 // of most, for the reply that is being read
}

func newReplyReader(from io.Reader, most int64) *replyReader {
	return &replyReader{from: from, most: most, buf: make([]byte, readBuffer)}
}

// next reads one reply. A push is one too.
func (r *replyReader) next() (Reply, error) {
	r.left = r.most
	return r.read(0)
}

func (r *replyReader) fill() error {
	if r.start == r.end {
		r.start, r.end = 0, 0
	} else if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) {
		return brokenReply("a line is longer than %d bytes", r.end)
	}
	if r.waiting != nil {
		r.waiting()
	}
	n, err := r.readSome(r.buf[r.end:])
	r.end += n
	return err
}

// readSome reads at least a byte, or fails.
func (r *replyReader) readSome(into []byte) (int, error) {
	const most = 100 // reads that bring nothing, in a row
	for range most {
		n, err := r.from.Read(into)
		if n > 0 {
			return n, nil // an error comes again
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, io.ErrNoProgress
}

func brokenReply(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrReply}, args...)...)
}

// head returns the line that the next value begins with; it is valid until more is read.
func (r *replyReader) head() (wire.Head, error) {
	for {
		h, size, err := wire.ParseHead(r.buf[r.start:r.end])
		if err != nil {
			return h, brokenReply("%w", err)
		}
		if size > 0 {
			r.start += size
			return h, nil
		}
		mid := r.start < r.end
		if err := r.fill(); err != nil {
			return h, midReply(err, mid)
		}
	}
}

// midReply makes an end in the middle of a reply one that was not expected.
func midReply(err error, mid bool) error {
	if mid && err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (r *replyReader) spend(n int64) error {
	if r.left -= n; r.left < 0 {
		return brokenReply("a reply takes more than %d bytes", r.most)
	}
	return nil
}

func (r *replyReader) read(depth int) (Reply, error) {
	if depth > maxReplyDepth {
		return Reply{}, brokenReply("more than %d lists in each other", maxReplyDepth)
	}
	h, err := r.head()
	switch {
	case err != nil:
		return Reply{}, midReply(err, depth > 0)
	case h.Null:
		return Reply{kind: Null}, nil
	case h.HasString():
		return r.bulk(&h)
	case h.HasValues():
		return r.aggregate(&h, depth)
	}
	switch kind := kindOf(&h); kind {
	case Integer, Boolean:
		return Reply{kind: kind, n: h.N}, nil
	case Text:
		if string(h.Text) == "OK" {
			return Reply{kind: Text, text: okText}, nil
		}
		fallthrough
	default:
		if err := r.spend(int64(len(h.Text))); err != nil {
			return Reply{}, err
		}
		return Reply{kind: kind, text: append([]byte(nil), h.Text...)}, nil
	}
}

// bulk reads a string whose length is announced.
func (r *replyReader) bulk(h *wire.Head) (Reply, error) {
	kind, verbatim, n := kindOf(h), h.Kind == wire.KindVerbatim, h.N
	if err := r.spend(n); err != nil {
		return Reply{}, err
	}
	text, err := r.exactly(int(n))
	if err != nil {
		return Reply{}, midReply(err, true)
	}
	if verbatim {
		if len(text) < 4 || text[3] != ':' {
			return Reply{}, brokenReply("a verbatim string without its format")
		}
		text = text[4:]
	}
	return Reply{kind: kind, text: text}, nil
}

// kindOf returns the kind of a value that no other values follow.
func kindOf(h *wire.Head) Kind {
	switch h.Kind {
	case wire.KindError, wire.KindBulkError:
		return Error
	case wire.KindNumber:
		return Integer
	case wire.KindBool:
		return Boolean
	case wire.KindDouble:
		return Float
	}
	return Text
}

// exactly reads n bytes and the end of line behind them.
func (r *replyReader) exactly(n int) ([]byte, error) {
	text := make([]byte, 0, min(n, firstRoom))
	for len(text) < n {
		if r.start == r.end {
			if rest := n - len(text); rest >= len(r.buf) {
				var err error
				if text, err = r.directly(text, n); err != nil {
					return nil, err
				}
				continue
			}
			if err := r.fill(); err != nil {
				return nil, err
			}
		}
		take := min(n-len(text), r.end-r.start)
		text = append(text, r.buf[r.start:r.start+take]...)
		r.start += take
	}
	for r.end-r.start < 2 {
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
	if r.buf[r.start] != '\r' || r.buf[r.start+1] != '\n' {
		return nil, brokenReply("a string does not end where it should")
	}
	r.start += 2
	return text, nil
}

// directly reads into text, without the buffer between.
func (r *replyReader) directly(text []byte, n int) ([]byte, error) {
	if len(text) == cap(text) {
		grown := make([]byte, len(text), min(n, max(2*len(text), firstRoom)))
		copy(grown, text)
		text = grown
	}
	if r.waiting != nil {
		r.waiting()
	}
	got, err := r.readSome(text[len(text):min(cap(text), n)])
	return text[:len(text)+got], err
}

func (r *replyReader) aggregate(h *wire.Head, depth int) (Reply, error) {
	if h.N > r.left/elementCost {
		return Reply{}, brokenReply("a list of %d elements", h.N)
	}
	list := Reply{kind: List, push: h.Kind == wire.KindPush}
	if h.IsMap() {
		list.kind = Map
	}
	n, isAttribute := h.Values(), h.Kind == wire.KindAttribute
	if err := r.spend(n * elementCost); err != nil {
		return Reply{}, err
	}
	if n > 0 {
		list.elems = make([]Reply, 0, min(n, firstElements))
	}
	for range n {
		e, err := r.read(depth + 1)
		if err != nil {
			return Reply{}, err
		}
		list.elems = append(list.elems, e)
	}
	if isAttribute { // it stands before what it belongs to
		return r.read(depth + 1)
	}
	return list, nil
}
