package client

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

// errReply says that what came is no reply; the connection ends with it.
var errReply = errors.New("not a reply")

// errUnasked says that more replies came than commands were sent.
var errUnasked = fmt.Errorf("%w: reply without a request", errReply)

// A reply is what a server answers. It is good until the next is read.
type reply struct {
	kind    byte     // '+' a status, '-' an error, ':' a number, '$' a string or null, '*' several
	text    []byte   // of a status, an error or a string; nil is null
	integer int64    // of a number
	values  [][]byte // of several: their strings; nil for what is null, or no string
	size    int      // in bytes
}

// A replyReader reads replies, in the old protocol and the new. It takes no memory for a
// reply that is no longer than its buffer.
type replyReader struct {
	src  io.Reader
	buf  []byte
	r, w int
	need int // bytes that are not all there yet, from r on; 0 if that is not known
	out  reply
}

func newReplyReader(src io.Reader) *replyReader {
	return &replyReader{src: src, buf: make([]byte, readBuffer)}
}

// errShort says that a reply is not all there.
var errShort = errors.New("short")

// next is the next reply, if it has come; otherwise nil. After an error there is no more.
func (r *replyReader) next() (*reply, error) {
	for {
		if r.w-r.r < max(r.need, 1) {
			return nil, nil
		}
		r.need = 0
		r.out = reply{values: r.out.values[:0]}
		end, err := r.parse(r.r, 0)
		if err == errShort {
			if r.w-r.r > maxReply {
				return nil, fmt.Errorf("%w: more than %d bytes", errReply, maxReply)
			}
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		kind := r.buf[r.r]
		r.out.size = end - r.r
		r.r = end
		if kind != '>' && kind != '|' { // what nobody has asked for
			return &r.out, nil
		}
	}
}

// fill reads what comes, once.
func (r *replyReader) fill() error {
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
		// Only twice what is there already, whatever lengths are promised.
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

// parse reads one reply, and returns where it ends. At depth 0 it is what is handed out,
// at depth 1 its elements.
func (r *replyReader) parse(at, depth int) (int, error) {
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
		n, ok := parseInt(rest)
		if !ok {
			return 0, fmt.Errorf("%w: number %.40q", errReply, rest)
		}
		if depth == 0 {
			r.out.kind, r.out.integer = ':', n
		} else if depth == 1 {
			r.out.values = append(r.out.values, nil)
		}
		return end, nil
	case '$', '=', '!':
		return r.bulk(kind, rest, end, depth)
	case '*', '~', '>', '%', '|':
		return r.several(kind, rest, end, depth)
	}
	return 0, fmt.Errorf("%w: it begins with %.40q", errReply, line)
}

func (r *replyReader) scalar(kind byte, text []byte, depth int) {
	switch {
	case depth == 1 && (kind == '_' || kind == '-'):
		r.out.values = append(r.out.values, nil)
	case depth == 1:
		r.out.values = append(r.out.values, text)
	case depth > 1:
	case kind == '_':
		r.out.kind = '$'
	case kind == '#':
		r.out.kind = ':'
		if string(text) == "t" {
			r.out.integer = 1
		}
	case kind == '-':
		r.out.kind, r.out.text = '-', text
	default:
		r.out.kind, r.out.text = '+', text
	}
}

func (r *replyReader) bulk(kind byte, length []byte, at, depth int) (int, error) {
	n, ok := parseInt(length)
	if !ok || n < -1 || n > maxReply {
		return 0, fmt.Errorf("%w: length %.40q of a string", errReply, length)
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
		return 0, fmt.Errorf("%w: a string does not end where it should", errReply)
	}
	text := r.buf[at : end-2 : end-2]
	switch {
	case depth == 0:
		r.out.kind, r.out.text = '$', text
		if kind == '!' {
			r.out.kind = '-'
		}
	case depth == 1:
		r.out.values = append(r.out.values, text)
	}
	return end, nil
}

func (r *replyReader) several(kind byte, length []byte, at, depth int) (int, error) {
	n, ok := parseInt(length)
	if !ok || n < -1 || n > maxReply {
		return 0, fmt.Errorf("%w: %.40q elements", errReply, length)
	}
	if depth == maxDepth {
		return 0, fmt.Errorf("%w: it is nested deeper than %d", errReply, maxDepth)
	}
	if n == -1 {
		r.scalar('_', nil, depth)
		return at, nil
	}
	if depth == 0 {
		r.out.kind = '*'
	} else if depth == 1 {
		r.out.values = append(r.out.values, nil)
	}
	if kind == '%' || kind == '|' {
		n *= 2
	}
	// Each takes three bytes at the least, so that a promise of many is not gone through
	// again and again before they are there.
	if least := at + 3*int(min(n, maxReply)); least > r.w {
		r.need = least - r.r
		if r.need > maxReply {
			return 0, fmt.Errorf("%w: %d elements do not fit %d bytes", errReply, n, maxReply)
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

// line is the line at a place, without its end, and where the next begins.
func (r *replyReader) line(at int) ([]byte, int, error) {
	i := bytes.IndexByte(r.buf[at:r.w], '\n')
	switch {
	case i < 0 && r.w-at > maxLine:
		return nil, 0, fmt.Errorf("%w: a line is longer than %d bytes", errReply, maxLine)
	case i < 0 && r.w > at && !known(r.buf[at]):
		return nil, 0, fmt.Errorf("%w: it begins with %.40q", errReply, r.buf[at:r.w])
	case i < 0:
		return nil, 0, errShort
	case i < 2 || r.buf[at+i-1] != '\r':
		return nil, 0, fmt.Errorf("%w: line %.40q", errReply, r.buf[at:at+i])
	}
	return r.buf[at : at+i-1 : at+i-1], at + i + 1, nil
}

func known(kind byte) bool { return bytes.IndexByte([]byte("+-:$*_#,(=!~%>|"), kind) >= 0 }

// parseInt takes no memory for the usual short ones.
func parseInt(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	if len(b) < 10 && b[0] != '-' && b[0] != '+' {
		n := int64(0)
		for _, d := range b {
			if d < '0' || d > '9' {
				return 0, false
			}
			n = 10*n + int64(d-'0')
		}
		return n, true
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}

// appendCommand adds a command as clients send it.
func appendCommand(b []byte, args [][]byte) []byte {
	b = appendHead(b, '*', len(args))
	for _, a := range args {
		b = appendHead(b, '$', len(a))
		b = append(b, a...)
		b = append(b, '\r', '\n')
	}
	return b
}

func appendHead(b []byte, kind byte, n int) []byte {
	if n < 10 {
		return append(b, kind, '0'+byte(n), '\r', '\n')
	}
	b = append(b, kind)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, '\r', '\n')
}
