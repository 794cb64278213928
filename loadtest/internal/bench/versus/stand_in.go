package main

import (
	"bytes"
	"net"
	"strconv"
	"sync"

	"github.com/ringside-kv/ringside/resp/client"
)

// A standIn answers forwarded GET and SET from memory and checks nothing: a backend that
// costs as little as one can, so that what is measured is who forwards.
type standIn struct {
	mu     sync.Mutex
	values map[string][]byte
	conns  map[net.Conn]struct{}
	done   sync.WaitGroup
}

func newStandIn() *standIn {
	return &standIn{values: make(map[string][]byte), conns: make(map[net.Conn]struct{})}
}

func (s *standIn) serve(conn net.Conn) {
	s.mu.Lock()
	s.conns[conn] = struct{}{}
	s.mu.Unlock()
	s.done.Go(func() {
		var replies []byte
		var lens []uint32
		_ = client.ServeForward(conn, client.ServeConfig{}, func(batches []*client.Batch, _ func(int)) {
			for _, b := range batches {
				replies, lens = s.answer(b, replies[:0], lens[:0])
				_ = b.Reply(lens, nil, replies)
			}
		})
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
	})
}

func (s *standIn) close() {
	s.mu.Lock()
	for conn := range s.conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.done.Wait()
}

func (s *standIn) answer(b *client.Batch, replies []byte, lens []uint32) ([]byte, []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := b.Commands
	var args [3][]byte
	for range b.N {
		var n int
		n, rest = standInCommand(rest, &args)
		before := len(replies)
		switch {
		case n == 2 && len(args[0]) == 3 && args[0][0]|0x20 == 'g':
			replies = s.get(replies, args[1])
		case n == 3 && len(args[0]) == 3 && args[0][0]|0x20 == 's':
			s.values[string(args[1])] = bytes.Clone(args[2])
			replies = append(replies, "+OK\r\n"...)
		default:
			replies = append(replies, "-ERR only GET and SET are there\r\n"...)
		}
		lens = append(lens, uint32(len(replies)-before))
	}
	return replies, lens
}

func (s *standIn) get(replies, key []byte) []byte {
	value, ok := s.values[string(key)]
	if !ok {
		return append(replies, "$-1\r\n"...)
	}
	replies = append(replies, '$')
	replies = strconv.AppendInt(replies, int64(len(value)), 10)
	replies = append(replies, "\r\n"...)
	replies = append(replies, value...)
	return append(replies, "\r\n"...)
}

// standInCommand splits off an array of bulk strings. It returns how many there are, and
// nothing if they are more than fit or anything else is odd.
func standInCommand(b []byte, args *[3][]byte) (n int, rest []byte) {
	n, b = standInLength(b, '*')
	if n < 1 || n > len(args) {
		return 0, nil
	}
	for i := range n {
		var size int
		if size, b = standInLength(b, '$'); size < 0 || size+2 > len(b) {
			return 0, nil
		}
		args[i], b = b[:size], b[size+2:]
	}
	return n, b
}

func standInLength(b []byte, kind byte) (n int, rest []byte) {
	if len(b) == 0 || b[0] != kind {
		return -1, nil
	}
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\r' && i+1 < len(b):
			return n, b[i+2:]
		case c < '0' || c > '9' || n > 1<<30:
			return -1, nil
		default:
			n = 10*n + int(c-'0')
		}
	}
	return -1, nil
}
