package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// callLimit bounds a single command.
const callLimit = 10 * time.Second

// A conn is one client's connection. It is for one goroutine.
type conn struct {
	net.Conn
	r *bufio.Reader
	// cursors are where scans of keys have come to.
	cursors map[string]string
}

func dial(ctx context.Context, addr string) (*conn, error) {
	d := net.Dialer{Timeout: callLimit}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return newConn(c), nil
}

func newConn(c net.Conn) *conn { return &conn{Conn: c, r: bufio.NewReaderSize(c, 32<<10)} }

// do sends one command and returns its reply, which must not be an array.
func (c *conn) do(args ...string) (string, error) {
	if err := c.SetDeadline(time.Now().Add(callLimit)); err != nil {
		return "", err
	}
	if _, err := c.Write(appendCommand(nil, args...)); err != nil {
		return "", err
	}
	line, n, err := c.replyHead()
	if err != nil || n < 0 {
		return string(line), err
	}
	buf := make([]byte, n+len("\r\n"))
	if _, err := io.ReadFull(c.r, buf); err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// skipReply reads a reply, an array with all that is in it, and returns the length of
// a bulk string, or -1 for a reply of another kind and for null.
func (c *conn) skipReply() (int, error) {
	size, first := -1, true
	for left := 1; left > 0; first = false {
		kind, err := c.r.Peek(1)
		if err != nil {
			return -1, err
		}
		array := kind[0] == '*'
		text, n, err := c.replyHead()
		if err != nil {
			return -1, err
		}
		if left--; array {
			elements, err := strconv.Atoi(string(text))
			if err != nil {
				return -1, err
			}
			left += max(elements, 0)
		}
		if first {
			size = n
		}
		if n >= 0 {
			if _, err := c.r.Discard(n + len("\r\n")); err != nil {
				return -1, err
			}
		}
	}
	return size, nil
}

// scan sends a command that goes over something and returns the cursor for the next one.
func (c *conn) scan(args ...string) (cursor string, err error) {
	if _, err := c.Write(appendCommand(nil, args...)); err != nil {
		return "", err
	}
	if text, _, err := c.replyHead(); err != nil || string(text) != "2" {
		return "", errors.Join(err, errNoCursor)
	}
	_, n, err := c.replyHead()
	if err != nil || n < 0 {
		return "", errors.Join(err, errNoCursor)
	}
	buf := make([]byte, n+len("\r\n"))
	if _, err := io.ReadFull(c.r, buf); err != nil {
		return "", err
	}
	_, err = c.skipReply()
	return string(buf[:n]), err
}

var errNoCursor = errors.New("a reply without a cursor")

// replyHead reads the first line of a reply: its text, and the length of the
// bulk string that follows or -1, also for an array, whose length is the text. The text is valid until the next read. An error
// reply is an error.
func (c *conn) replyHead() ([]byte, int, error) {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return nil, -1, err
	}
	if len(line) < 3 {
		return nil, -1, fmt.Errorf("not a reply: %q", line)
	}
	text := line[1 : len(line)-2]
	switch line[0] {
	case '+', ':', '*':
		return text, -1, nil
	case '-':
		return nil, -1, replyError(text)
	case '$':
		n, err := strconv.Atoi(string(text))
		return nil, n, err
	}
	return nil, -1, fmt.Errorf("unexpected reply %q", line)
}

// A replyError is an error that the server has answered with.
type replyError string

// Error returns the server's text.
func (e replyError) Error() string { return "the server answers: " + string(e) }

func appendCommand(b []byte, args ...string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}

// infoField finds a field in the answer to INFO.
func infoField(info, name string) (string, bool) {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return value, true
		}
	}
	return "", false
}
