package client

import (
	"context"
	"net"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers a batch of N commands with its own bytes, cut in N.
func echo(b *Batch) {
	lens := make([]uint32, b.N)
	echoInto(b, lens)
}

func echoInto(b *Batch, lens []uint32) {
	each := len(b.Commands) / b.N
	for i := range lens {
		lens[i] = uint32(each)
	}
	lens[len(lens)-1] += uint32(len(b.Commands) - each*b.N)
	_ = b.Reply(lens, nil, b.Commands)
}

// A far end serves every connection that is dialled to it.
type farEnd struct {
	t      testing.TB
	cfg    ServeConfig
	handle func(*Batch)
	// handleAll, if set, stands in for handle.
	handleAll func([]*Batch, func(int))

	mu      sync.Mutex
	conns   []net.Conn
	served  sync.WaitGroup
	dialled int
}

func newFarEnd(t testing.TB, handle func(*Batch)) *farEnd {
	f := &farEnd{t: t, handle: handle}
	t.Cleanup(f.served.Wait)
	return f
}

func (f *farEnd) serve(conn net.Conn) {
	f.mu.Lock()
	f.conns = append(f.conns, conn)
	f.dialled++
	f.mu.Unlock()
	handle := f.handleAll
	if handle == nil {
		handle = eachBatch(f.handle)
	}
	f.served.Go(func() { _ = ServeForward(conn, f.cfg, handle) })
}

// breakAll closes the connections from the far end.
func (f *farEnd) breakAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.conns {
		_ = c.Close()
	}
	f.conns = nil
}

// pipe dials over net.Pipe, which has no buffer at all.
func (f *farEnd) pipe(context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	f.serve(far)
	return near, nil
}

// tcp returns a Dial over loopback.
func (f *farEnd) tcp() func(context.Context) (net.Conn, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f.serve(conn)
		}
	})
	f.t.Cleanup(func() { _ = l.Close(); accepting.Wait() })
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", l.Addr().String())
	}
}

func newTestPeer(t testing.TB, cfg PeerConfig) *Peer {
	t.Helper()
	p, err := NewPeer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// eachNetwork runs a test over net.Pipe and over loopback.
func eachNetwork(t *testing.T, handle func(*Batch), test func(t *testing.T, f *farEnd, p *Peer)) {
	t.Run("pipe", func(t *testing.T) {
		f := newFarEnd(t, handle)
		test(t, f, newTestPeer(t, PeerConfig{Dial: f.pipe}))
	})
	t.Run("tcp", func(t *testing.T) {
		f := newFarEnd(t, handle)
		test(t, f, newTestPeer(t, PeerConfig{Dial: f.tcp()}))
	})
}

// eachBatch handles batches one by one.
func eachBatch(handle func(*Batch)) func([]*Batch, func(int)) {
	return func(batches []*Batch, _ func(int)) {
		for _, b := range batches {
			handle(b)
		}
	}
}
