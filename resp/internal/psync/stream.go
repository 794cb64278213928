package psync

import (
	"strconv"
	"sync"

	"github.com/ringside-kv/ringside/resp/wire"
)

const (
	// chunkSize is how many bytes of the stream lie together, or more where a command is longer.
	chunkSize = 64 << 10
	// maxWrite is how many bytes are sent with one write.
	maxWrite = 256 << 10
)

// A stream is the commands for all replicas, with the end that is kept: for those that are there, what they have
// not been sent yet, and for those that come back, the backlog. Its methods may be called from any goroutine.
//
// Invariant: the bytes of a chunk never change once they are part of the stream.
type stream struct {
	mu       sync.Mutex
	chunks   []chunk
	start    int64 // offset of the first byte that is kept
	end      int64 // offset behind the last byte
	database int   // that of the commands that follow; -1: none is selected
	readers  map[*cursor]struct{}
	more     chan struct{} // closed when there is more
}

type chunk struct {
	at   int64
	data []byte
}

// A cursor is how far one replica was sent the stream.
type cursor struct{ at int64 }

func newStream(at int64) *stream {
	return &stream{start: at, end: at, database: -1, readers: make(map[*cursor]struct{}), more: make(chan struct{})}
}

// write adds commands that work in a database; any, if that is below 0.
func (s *stream) write(database int, commands []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if database >= 0 && database != s.database {
		s.append(wire.AppendRequest(nil, "SELECT", strconv.Itoa(database)))
		s.database = database
	}
	s.append(commands)
	close(s.more)
	s.more = make(chan struct{})
}

func (s *stream) append(b []byte) {
	if n := len(s.chunks); n == 0 || cap(s.chunks[n-1].data)-len(s.chunks[n-1].data) < len(b) {
		s.chunks = append(s.chunks, chunk{s.end, make([]byte, 0, max(chunkSize, len(b)))})
	}
	last := &s.chunks[len(s.chunks)-1]
	last.data = append(last.data, b...)
	s.end += int64(len(b))
}

// trim drops what no replica needs any more and the backlog has no room for.
func (s *stream) trim(backlog int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := s.end - backlog
	for c := range s.readers {
		keep = min(keep, c.at)
	}
	n := 0
	for n < len(s.chunks) && s.chunks[n].at+int64(len(s.chunks[n].data)) <= keep {
		n++
	}
	if n > 0 {
		clear(s.chunks[:n])
		s.chunks = s.chunks[n:]
	}
	if s.start = s.end; len(s.chunks) > 0 {
		s.start = s.chunks[0].at
	}
}

// open returns a cursor at the end of the stream, for a replica that has no database selected.
func (s *stream) open() *cursor {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.database = -1
	c := &cursor{at: s.end}
	s.readers[c] = struct{}{}
	return c
}

// reopen returns a cursor at an offset, or nil if the stream does not have all that follows it.
func (s *stream) reopen(at int64) *cursor {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at < s.start || at > s.end {
		return nil
	}
	c := &cursor{at: at}
	s.readers[c] = struct{}{}
	return c
}

func (s *stream) close(c *cursor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.readers, c)
}

// next returns what follows a cursor and moves that behind it; without anything, it returns a channel that is closed
// when there is more.
func (s *stream) next(c *cursor) (data []byte, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// A replica that keeps up is at the last chunk.
	for i := len(s.chunks) - 1; i >= 0 && c.at < s.end; i-- {
		if k := s.chunks[i]; k.at <= c.at {
			data = k.data[c.at-k.at:]
			return data[:min(len(data), maxWrite)], nil
		}
	}
	return nil, s.more
}

// advance notes that a replica was sent n bytes more.
func (s *stream) advance(c *cursor, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.at += int64(n)
}

// lag is how many bytes a replica was not sent yet.
func (s *stream) lag(c *cursor) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end - c.at
}

// span returns the offsets of what is kept.
func (s *stream) span() (start, end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.start, s.end
}
