package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A standIn answers forwarded GET and SET from memory and checks nothing: a backend that costs as
// little as one can, so that a measurement shows the cost of forwarding.
type standIn struct {
	mu     sync.Mutex
	values map[string][]byte
}

func newStandIn() *standIn { return &standIn{values: make(map[string][]byte)} }

// serveStandIn serves one at an address until the context ends.
func serveStandIn(ctx context.Context, addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	s := newStandIn()
	var all sync.WaitGroup
	defer all.Wait()
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		unhook := context.AfterFunc(ctx, func() { _ = conn.Close() })
		all.Go(func() {
			defer unhook()
			s.serve(conn)
		})
	}
}

func (s *standIn) serve(conn net.Conn) {
	var replies []byte
	var lens []uint32
	_ = client.ServeForward(conn, client.ServeConfig{}, func(batches []*client.Batch, _ func(int)) {
		for _, b := range batches {
			replies, lens = s.answer(b, replies[:0], lens[:0])
			_ = b.Reply(lens, nil, replies)
		}
	})
}

// standInLimits are those of the load's commands.
var standInLimits = wire.Limits{Args: 3, Bulk: 1 << 20, Authed: true}

// answer appends as many replies as the batch has commands.
func (s *standIn) answer(b *client.Batch, replies []byte, lens []uint32) ([]byte, []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := b.Commands
	var args [][]byte
	for range b.N {
		var n int
		guard := wire.NewGuard()
		if n, args, _ = guard.Next(rest, &standInLimits, args[:0]); n == 0 {
			rest = nil // not a request that a load sends
		}
		rest = rest[n:]
		before := len(replies)
		switch {
		case len(args) == 2 && wire.EqualFold(args[0], "GET"):
			if value, ok := s.values[string(args[1])]; ok {
				replies = wire.AppendBulk(replies, value)
			} else {
				replies = append(replies, "$-1\r\n"...)
			}
		case len(args) == 3 && wire.EqualFold(args[0], "SET"):
			s.values[string(args[1])] = bytes.Clone(args[2])
			replies = append(replies, "+OK\r\n"...)
		default:
			replies = append(replies, "-ERR only GET and SET are there\r\n"...)
		}
		lens = append(lens, uint32(len(replies)-before))
	}
	return replies, lens
}
