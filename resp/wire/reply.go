package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	readBuffer = 64 << 10
	// maxReply is the longest reply, in bytes, that is read: the longest string of Redis,
	// and what stands around it. Memory is only taken for what has come.
	maxReply = 513 << 20
	// maxDepth is how deep replies may be nested.
	maxDepth = 16
)

// ErrReply reports bytes that are not a reply. The connection must be closed.
var ErrReply = errors.New("not a reply")

// A Reply is a server's reply, in RESP2 or RESP3. It is valid until the next one is read.
type Reply struct {
	Kind   byte     // '+' status, '-' error, ':' number, '$' string or null, '*' aggregate
	Text   []byte   // of a status, an error or a string; nil is null
	Int    int64    // of a number
	Values [][]byte // elements of an aggregate; nil for null and for an element that is not a string
	Failed []byte   // the first error in an aggregate; only with [ReplyReader.Flat]
	Size   int      // bytes
}

// ReplyError is an error that the server replied: a code and a text.
type ReplyError string

// Error implements error.
func (e ReplyError) Error() string { return string(e) }

// Joined returns the reply as one string: the elements of an aggregate with commas between them,
// null as an empty string. The error is a [ReplyError].
func (r *Reply) Joined() (text string, err error) {
	switch {
	case r.Kind == '-':
		return "", ReplyError(r.Text)
	case r.Failed != nil:
		err = ReplyError(r.Failed)
	}
	switch r.Kind {
	case ':':
		return strconv.FormatInt(r.Int, 10), err
	case '*':
		return string(bytes.Join(r.Values, []byte(","))), err
	}
	return string(r.Text), err
}

// A ReplyReader reads replies. It allocates nothing for a reply that fits its buffer. One goroutine
// uses it.
type ReplyReader struct {
	// Flat makes Reply.Values hold the scalars of an aggregate at every depth, in order, numbers as
	// text and errors as null.
	Flat bool
	// Pushed, if not nil, is called by [ReplyReader.Next] with each push message, as an aggregate. The message is
	// valid until it returns.
	Pushed func(message *Reply)

	src  io.Reader
	buf  []byte
	r, w int
	need int // bytes of the reply at r that must arrive before it is parsed again; 0: not known
	out  Reply
}

// NewReplyReader returns a reader with an empty buffer.
func NewReplyReader(src io.Reader) *ReplyReader {
	return &ReplyReader{src: src, buf: make([]byte, readBuffer)}
}

// Read returns the next reply and waits for it.
func (r *ReplyReader) Read() (*Reply, error) {
	for {
		if reply, err := r.Next(); reply != nil || err != nil {
			return reply, err
		}
		if err := r.Fill(); err != nil {
			return nil, err
		}
	}
}

// Buffered returns the number of bytes that have been received and not been parsed.
func (r *ReplyReader) Buffered() int { return r.w - r.r }

var (
	// errShort says that a reply is not all there.
	errShort     = errors.New("short")
	errStringEnd = fmt.Errorf("%w: a string does not end where it should", ErrReply)
)

// Next returns the next reply if it has been received as a whole, else nil. It skips attributes, and pushes
// after [ReplyReader.Pushed]. After an error the reader must not be used.
func (r *ReplyReader) Next() (*Reply, error) {
	for {
		raw, err := r.next()
		if raw == nil || err != nil {
			return nil, err
		}
		switch raw[0] {
		case '>':
			if r.Pushed != nil {
				r.Pushed(&r.out)
			}
		case '|':
		default:
			return &r.out, nil
		}
	}
}

// ReadRaw returns the bytes of the next reply, push or attribute, and waits for it. The bytes are
// valid until the next one is read. [ParseValue] takes them apart.
func (r *ReplyReader) ReadRaw() ([]byte, error) {
	for {
		if raw, err := r.next(); raw != nil || err != nil {
			return raw, err
		}
		if err := r.Fill(); err != nil {
			return nil, err
		}
	}
}

// next parses what comes next and returns its bytes, nil if they have not been received as a whole.
func (r *ReplyReader) next() ([]byte, error) {
	if r.w-r.r < max(r.need, 1) {
		return nil, nil
	}
	r.need = 0
	r.out = Reply{Values: r.out.Values[:0]}
	end, err := r.parse(r.r, 0)
	if err == errShort {
		if r.w-r.r > maxReply {
			return nil, fmt.Errorf("%w: more than %d bytes", ErrReply, maxReply)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	raw := r.buf[r.r:end:end]
	r.out.Size = len(raw)
	r.r = end
	return raw, nil
}

// Fill reads once from the source.
func (r *ReplyReader) Fill() error {
	switch {
	case r.r == r.w:
		r.r, r.w = 0, 0
		if len(r.buf) > 16*readBuffer {
			r.buf = make([]byte, readBuffer) // a long one has come by
		}
	case r.w == len(r.buf) && r.r > 0:
		r.w = copy(r.buf, r.buf[r.r:r.w])
		r.r = 0
	}
	if r.w == len(r.buf) {
		// The buffer only doubles, whatever length is announced.
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	n, err := r.src.Read(r.buf[r.w:])
	r.w += n
	if n > 0 {
		return nil // an error comes again
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// parse reads the value at a position of the buffer and returns its end. At depth 0 it sets the
// reply, at depth 1 its elements.
func (r *ReplyReader) parse(at, depth int) (int, error) {
	h, size, err := ParseHead(r.buf[at:r.w])
	switch {
	case err != nil:
		return 0, err
	case size == 0:
		return 0, errShort
	case h.HasString():
		return r.bulk(&h, at+size, depth)
	case h.HasValues():
		return r.several(&h, at+size, depth)
	}
	r.scalar(&h, depth)
	return at + size, nil
}

func (r *ReplyReader) scalar(h *Head, depth int) {
	switch {
	case depth > 0:
		r.element(h, depth)
	case h.Null:
		r.out.Kind = '$'
	case h.Kind == ':' || h.Kind == '#':
		r.out.Kind, r.out.Int = ':', h.N
	case h.IsError():
		r.out.Kind, r.out.Text = '-', h.Text
	default:
		r.out.Kind, r.out.Text = '+', h.Text
	}
}

// element adds a scalar to the values of an aggregate.
func (r *ReplyReader) element(h *Head, depth int) {
	if depth > 1 && !r.Flat {
		return
	}
	text := h.Text
	switch {
	case h.Null || h.Kind == ':' && !r.Flat:
		text = nil
	case h.Kind == '-':
		if r.Flat && r.out.Failed == nil {
			r.out.Failed = text
		}
		text = nil
	}
	r.out.Values = append(r.out.Values, text)
}

func (r *ReplyReader) bulk(h *Head, at, depth int) (int, error) {
	if h.N > maxReply {
		return 0, fmt.Errorf("%w: a string of %d bytes", ErrReply, h.N)
	}
	end := at + int(h.N) + 2
	if end > r.w {
		r.need = end - r.r
		return 0, errShort
	}
	if r.buf[end-2] != '\r' || r.buf[end-1] != '\n' {
		return 0, errStringEnd
	}
	h.Text = r.buf[at : end-2 : end-2]
	switch {
	case depth > 0:
		h.Kind = '$'
		r.element(h, depth)
	case h.IsError():
		r.out.Kind, r.out.Text = '-', h.Text
	default:
		r.out.Kind, r.out.Text = '$', h.Text
	}
	return end, nil
}

func (r *ReplyReader) several(h *Head, at, depth int) (int, error) {
	if h.N > maxReply {
		return 0, fmt.Errorf("%w: %d elements", ErrReply, h.N)
	}
	if depth == maxDepth {
		return 0, fmt.Errorf("%w: it is nested deeper than %d", ErrReply, maxDepth)
	}
	if depth == 0 {
		r.out.Kind = '*'
	} else if depth == 1 && !r.Flat {
		r.out.Values = append(r.out.Values, nil)
	}
	n := h.Values()
	// An element has three bytes or more. So an announced length is not parsed again and again
	// before its elements have arrived.
	if least := at + 3*int(min(n, maxReply)); least > r.w {
		r.need = least - r.r
		if r.need > maxReply {
			return 0, fmt.Errorf("%w: %d elements do not fit %d bytes", ErrReply, n, maxReply)
		}
		return 0, errShort
	}
	for ; n > 0; n-- {
		var err error
		if at, err = r.parse(at, depth+1); err != nil {
			return 0, err
		}
	}
	return at, nil
}
