package client

import (
	"fmt"
	"io"
	"strconv"
)

const (
	// What a reply holds lies in one another so deep at most.
	maxReplyDepth = 64
	// maxLine is the length of a line that is no bulk string, in bytes.
	maxLine = 64 << 10
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
		return brokenReply("a line of more than %d bytes", r.end)
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

// line returns a line without its end; it is valid until more is read.
func (r *replyReader) line() ([]byte, error) {
	seen := 0
	for {
		b := r.buf[r.start:r.end]
		for i := seen; i < len(b); i++ {
			if b[i] != '\n' {
				continue
			}
			if i == 0 || b[i-1] != '\r' {
				return nil, brokenReply("a line ends without a carriage return")
			}
			r.start += i + 1
			return b[:i-1], nil
		}
		if seen = len(b); seen > maxLine {
			return nil, brokenReply("a line of more than %d bytes", maxLine)
		}
		if err := r.fill(); err != nil {
			return nil, midReply(err, seen > 0)
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
	line, err := r.line()
	if err != nil {
		return Reply{}, midReply(err, depth > 0)
	}
	if len(line) == 0 {
		return Reply{}, brokenReply("an empty line")
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+', '-', ',', '(':
		if err := r.spend(int64(len(rest))); err != nil {
			return Reply{}, err
		}
		if kind == '+' && string(rest) == "OK" {
			return Reply{kind: Text, text: okText}, nil
		}
		return Reply{kind: lineKind(kind), text: append([]byte(nil), rest...)}, nil
	case ':':
		n, ok := parseNumber(rest)
		if !ok {
			return Reply{}, brokenReply("%q is no integer", clip(rest))
		}
		return Reply{kind: Integer, n: n}, nil
	case '_':
		if len(rest) > 0 {
			return Reply{}, brokenReply("null is followed by %q", clip(rest))
		}
		return Reply{kind: Null}, nil
	case '#':
		if len(rest) != 1 || rest[0] != 't' && rest[0] != 'f' {
			return Reply{}, brokenReply("%q is neither true nor false", clip(rest))
		}
		b := Reply{kind: Boolean}
		if rest[0] == 't' {
			b.n = 1
		}
		return b, nil
	case '$', '=', '!':
		return r.bulk(kind, rest)
	case '*', '~', '>', '%', '|':
		return r.aggregate(kind, rest, depth)
	}
	return Reply{}, brokenReply("%q begins no reply", clip(line))
}

func lineKind(b byte) Kind {
	switch b {
	case '-', '!':
		return Error
	case ',':
		return Float
	}
	return Text
}

// bulk reads a string whose length is announced.
func (r *replyReader) bulk(kind byte, length []byte) (Reply, error) {
	n, ok := parseNumber(length)
	switch {
	case ok && n == -1 && kind == '$':
		return Reply{kind: Null}, nil
	case !ok || n < 0:
		return Reply{}, brokenReply("%q is no length", clip(length))
	}
	if err := r.spend(n); err != nil {
		return Reply{}, err
	}
	text, err := r.exactly(int(n))
	if err != nil {
		return Reply{}, midReply(err, true)
	}
	if kind == '=' {
		if len(text) < 4 || text[3] != ':' {
			return Reply{}, brokenReply("a verbatim string without its format")
		}
		text = text[4:]
	}
	return Reply{kind: lineKind(kind), text: text}, nil
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

func (r *replyReader) aggregate(kind byte, count []byte, depth int) (Reply, error) {
	n, ok := parseNumber(count)
	switch {
	case ok && n == -1 && kind == '*':
		return Reply{kind: Null}, nil
	case !ok || n < 0 || n > r.left/elementCost:
		return Reply{}, brokenReply("a list of %q elements", clip(count))
	}
	list := Reply{kind: List, push: kind == '>'}
	if kind == '%' || kind == '|' {
		list.kind = Map
		n *= 2
	}
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
	if kind == '|' { // attributes stand before what they belong to
		return r.read(depth + 1)
	}
	return list, nil
}

// parseNumber reads a decimal of up to 18 digits quickly, and others as they are.
func parseNumber(b []byte) (int64, bool) {
	digits := b
	if len(b) > 0 && b[0] == '-' {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		n, err := strconv.ParseInt(string(b), 10, 64)
		return n, err == nil
	}
	var n int64
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int64(d-'0')
	}
	if len(digits) < len(b) {
		n = -n
	}
	return n, true
}

// clip shortens what is shown of something broken.
func clip(b []byte) []byte { return b[:min(len(b), 40)] }
