package client

import (
	"bytes"
	"context"
	"net"
	"testing"

	"github.com/ringside-kv/ringside/replica/bus"
)

// overBus makes the far end serve on a bus, and returns a Dial from another one.
func (f *farEnd) overBus(key []byte) func(context.Context) (net.Conn, error) {
	listen := func(id string) *bus.Bus {
		b, err := bus.Listen(bus.Config{ID: id, Cluster: "test", Strategy: "buckets", Hash: "native", Key: key, Listen: "127.0.0.1:0"})
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Cleanup(func() { _ = b.Close() })
		b.Handle(bus.Forward, func(_ bus.Peer, conn net.Conn) { _ = ServeForward(conn, f.cfg, eachBatch(f.handle)) })
		if err := b.Start(); err != nil {
			f.t.Fatal(err)
		}
		return b
	}
	near, far := listen("near"), listen("far")
	return func(ctx context.Context) (net.Conn, error) {
		conn, _, err := near.Dial(ctx, far.Addr().String(), "far", bus.Forward)
		return conn, err
	}
}

var busKey = []byte("a cluster key for tests")

func TestCallsTravelOverTheBus(t *testing.T) {
	for name, key := range map[string][]byte{"plain": nil, "sealed": busKey} {
		t.Run(name, func(t *testing.T) {
			f := newFarEnd(t, echo)
			p := newTestPeer(t, PeerConfig{Dial: f.overBus(key)})
			var c Call
			for _, size := range []int{1, 1000, 64 << 10, 3 << 20} {
				c.Commands, c.N = bytes.Repeat([]byte{byte(size)}, size), 1
				c.Lane++
				_ = p.Send(&c)
				if err := c.Wait(); err != nil || !bytes.Equal(c.Reply, c.Commands) {
					t.Fatalf("%d bytes: %d came back, %v", size, len(c.Reply), err)
				}
			}
		})
	}
}
