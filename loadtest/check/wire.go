package check

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Wire is one connection to a node, made when it is needed and given up after a command
// without an answer. It repeats nothing. It belongs to one goroutine, but for Close.
type Wire struct {
	Dial func(ctx context.Context) (net.Conn, error)
	// Greeting is sent first on each connection; each must be answered without an error.
	Greeting [][]string

	mu     sync.Mutex // guards conn against Close
	conn   net.Conn
	reader *bufio.Reader
	closed bool
}

// Do is a Doer.
func (w *Wire) Do(ctx context.Context, args ...string) (string, error) {
	if w.conn == nil {
		if err := w.connect(ctx); err != nil {
			w.drop()
			return "", fmt.Errorf("%w: %w", ErrUnsent, err)
		}
	}
	reply, err := w.exchange(ctx, args)
	var e errorReply
	if err != nil && !errors.As(err, &e) {
		w.drop()
	}
	return reply, err
}

type errorReply string

func (e errorReply) Error() string { return string(e) }

func (w *Wire) connect(ctx context.Context) error {
	conn, err := w.Dial(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.conn, w.reader = conn, bufio.NewReader(conn)
	closed := w.closed
	w.mu.Unlock()
	if closed {
		return net.ErrClosed
	}
	for _, args := range w.Greeting {
		if _, err := w.exchange(ctx, args); err != nil {
			return err
		}
	}
	return nil
}

func (w *Wire) exchange(ctx context.Context, args []string) (string, error) {
	by, ok := ctx.Deadline()
	if !ok {
		by = time.Now().Add(time.Minute)
	}
	if err := w.conn.SetDeadline(by); err != nil {
		return "", err
	}
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := w.conn.Write(b); err != nil {
		return "", err
	}
	return w.read()
}

func (w *Wire) read() (string, error) {
	line, err := w.reader.ReadString('\n')
	if err != nil {
		return "", err
	}
	if len(line) < 3 {
		return "", fmt.Errorf("a reply of %q", line)
	}
	text := line[1 : len(line)-2]
	switch line[0] {
	case '+', ':':
		return text, nil
	case '-':
		return "", errorReply(text)
	case '*':
		n, err := strconv.Atoi(text)
		if err != nil || n <= 0 {
			return "", err
		}
		return w.list(n)
	case '$':
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return "", err
		}
		b := make([]byte, n+2)
		_, err = io.ReadFull(w.reader, b)
		return string(b[:n]), err
	}
	return "", fmt.Errorf("a reply of %q", line)
}

// list reads the elements of a list, as one text with commas between them. If one of them is
// an error, that is the reply.
func (w *Wire) list(n int) (string, error) {
	var parts []string
	var refused error
	for range n {
		part, err := w.read()
		var e errorReply
		if err != nil && !errors.As(err, &e) {
			return "", err
		}
		if err != nil && refused == nil {
			refused = err
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ","), refused
}

func (w *Wire) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// Close ends the connection and whatever waits for it, from any goroutine.
func (w *Wire) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.conn != nil {
		_ = w.conn.Close()
	}
}
