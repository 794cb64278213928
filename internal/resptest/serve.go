package resptest

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/ringside-kv/ringside/resp/wire"
)

// Serve calls serve with each connection that a listener accepts, in a goroutine, and closes the
// connection after that. stop closes the listener and all connections and waits for the goroutines;
// the end of the test calls it too.
func Serve(t testing.TB, l net.Listener, serve func(net.Conn)) (stop func()) {
	var (
		mu      sync.Mutex
		stopped bool
		open    []net.Conn
		serving sync.WaitGroup
	)
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			if stopped {
				_ = c.Close()
			}
			open = append(open, c)
			mu.Unlock()
			serving.Go(func() {
				defer func() { _ = c.Close() }()
				serve(c)
			})
		}
	})
	stop = func() {
		mu.Lock()
		stopped = true
		_ = l.Close()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		serving.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// Requests reads what a client sends: arrays of strings.
type Requests struct{ in *wire.ReplyReader }

// NewRequests returns a reader with an empty buffer.
func NewRequests(src io.Reader) *Requests { return &Requests{wire.NewReplyReader(src)} }

// Next returns the words of the next request and waits for it.
func (r *Requests) Next() ([]string, error) {
	request, err := r.in.Read()
	if err != nil {
		return nil, err
	}
	words := make([]string, len(request.Values))
	for i, value := range request.Values {
		words[i] = string(value)
	}
	if len(words) == 0 {
		return nil, wire.ErrReply
	}
	return words, nil
}

// Buffered is how many bytes have been received behind the last request.
func (r *Requests) Buffered() int { return r.in.Buffered() }

// Bulk is a string as a reply.
func Bulk(s string) string { return string(wire.AppendBulkString(nil, s)) }
