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
	// maxLine is the longest line.
	maxLine = 64 << 10
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

// errShort says that a reply is not all there.
var errShort = errors.New("short")

// Next returns the next reply if it has been received as a whole, else nil. It skips pushes and
// attributes. After an error the reader must not be used.
func (r *ReplyReader) Next() (*Reply, error) {
	for {
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
		kind := r.buf[r.r]
		r.out.Size = end - r.r
		r.r = end
		if kind != '>' && kind != '|' {
			return &r.out, nil
		}
	}
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

// parse reads the reply at a position of the buffer and returns its end. At depth 0 it sets the
// reply, at depth 1 its elements.
func (r *ReplyReader) parse(at, depth int) (int, error) {
	line, end, err := r.line(at)
	if err != nil {
		return 0, err
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+', '-', ',', '(', '#', '_':
		r.scalar(kind, rest, depth)
		return end, nil
	case ':':
		n, ok := ParseInt(rest)
		if !ok {
			return 0, fmt.Errorf("%w: number %.40q", ErrReply, rest)
		}
		switch {
		case depth == 0:
			r.out.Kind, r.out.Int = ':', n
		case r.Flat:
			r.out.Values = append(r.out.Values, rest)
		case depth == 1:
			r.out.Values = append(r.out.Values, nil)
		}
		return end, nil
	case '$', '=', '!':
		return r.bulk(kind, rest, end, depth)
	case '*', '~', '>', '%', '|':
		return r.several(kind, rest, end, depth)
	}
	return 0, fmt.Errorf("%w: it begins with %.40q", ErrReply, line)
}

func (r *ReplyReader) scalar(kind byte, text []byte, depth int) {
	switch {
	case depth > 0:
		r.element(kind, text, depth)
	case kind == '_':
		r.out.Kind = '$'
	case kind == '#':
		r.out.Kind = ':'
		if string(text) == "t" {
			r.out.Int = 1
		}
	case kind == '-':
		r.out.Kind, r.out.Text = '-', text
	default:
		r.out.Kind, r.out.Text = '+', text
	}
}

// element adds a scalar to the values of an aggregate.
func (r *ReplyReader) element(kind byte, text []byte, depth int) {
	if depth > 1 && !r.Flat {
		return
	}
	if kind == '_' || kind == '-' {
		if kind == '-' && r.Flat && r.out.Failed == nil {
			r.out.Failed = text
		}
		text = nil
	}
	r.out.Values = append(r.out.Values, text)
}

func (r *ReplyReader) bulk(kind byte, length []byte, at, depth int) (int, error) {
	n, ok := ParseInt(length)
	if !ok || n < -1 || n > maxReply {
		return 0, fmt.Errorf("%w: length %.40q of a string", ErrReply, length)
	}
	if n == -1 {
		r.scalar('_', nil, depth)
		return at, nil
	}
	end := at + int(n) + 2
	if end > r.w {
		r.need = end - r.r
		return 0, errShort
	}
	if r.buf[end-2] != '\r' || r.buf[end-1] != '\n' {
		return 0, fmt.Errorf("%w: a string does not end where it should", ErrReply)
	}
	text := r.buf[at : end-2 : end-2]
	if depth > 0 {
		r.element('$', text, depth)
		return end, nil
	}
	r.out.Kind, r.out.Text = '$', text
	if kind == '!' {
		r.out.Kind = '-'
	}
	return end, nil
}

func (r *ReplyReader) several(kind byte, length []byte, at, depth int) (int, error) {
	n, ok := ParseInt(length)
	if !ok || n < -1 || n > maxReply {
		return 0, fmt.Errorf("%w: %.40q elements", ErrReply, length)
	}
	if depth == maxDepth {
		return 0, fmt.Errorf("%w: it is nested deeper than %d", ErrReply, maxDepth)
	}
	if n == -1 {
		r.scalar('_', nil, depth)
		return at, nil
	}
	if depth == 0 {
		r.out.Kind = '*'
	} else if depth == 1 && !r.Flat {
		r.out.Values = append(r.out.Values, nil)
	}
	if kind == '%' || kind == '|' {
		n *= 2
	}
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

// line returns the line at a position without its end, and the position of the next one.
func (r *ReplyReader) line(at int) ([]byte, int, error) {
	i := bytes.IndexByte(r.buf[at:r.w], '\n')
	switch {
	case i < 0 && r.w-at > maxLine:
		return nil, 0, fmt.Errorf("%w: a line is longer than %d bytes", ErrReply, maxLine)
	case i < 0 && r.w > at && !known(r.buf[at]):
		return nil, 0, fmt.Errorf("%w: it begins with %.40q", ErrReply, r.buf[at:r.w])
	case i < 0:
		return nil, 0, errShort
	case i < 2 || r.buf[at+i-1] != '\r':
		return nil, 0, fmt.Errorf("%w: line %.40q", ErrReply, r.buf[at:at+i])
	}
	return r.buf[at : at+i-1 : at+i-1], at + i + 1, nil
}

func known(kind byte) bool { return bytes.IndexByte([]byte("+-:$*_#,(=!~%>|"), kind) >= 0 }
