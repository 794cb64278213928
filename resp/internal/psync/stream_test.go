package psync

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// TestStreamGivesEachCursorWhatFollowsIt writes, reads, trims and comes back at random, and compares with all that was
// ever written.
func TestStreamGivesEachCursorWhatFollowsIt(t *testing.T) {
	r := rand.New(rand.NewPCG(randomtest.Seed(t), 1))
	const first, backlog = 7, 100_000
	s := newStream(first)
	all := make([]byte, first)
	type reader struct {
		c  *cursor
		at int64
	}
	var readers []*reader
	for range 3000 {
		switch n := r.IntN(10); {
		case n < 3:
			b := make([]byte, r.IntN(3*chunkSize/2))
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			s.write(-1, b)
			all = append(all, b...)
		case n < 4 && len(readers) < 4:
			c := s.open()
			readers = append(readers, &reader{c, int64(len(all))})
		case n < 5 && len(readers) > 0:
			i := r.IntN(len(readers))
			at := readers[i].at
			s.close(readers[i].c)
			if r.IntN(2) == 0 { // away for a while
				s.trim(backlog)
			}
			c := s.reopen(at)
			if c == nil && at >= int64(len(all))-backlog {
				t.Fatalf("the backlog of %d bytes does not reach back by %d", backlog, int64(len(all))-at)
			}
			if c == nil {
				readers = append(readers[:i], readers[i+1:]...)
			} else {
				readers[i].c = c
			}
		case n < 6:
			s.trim(backlog)
			least := int64(len(all)) - backlog
			for _, x := range readers {
				least = min(least, x.at)
			}
			if start, end := s.span(); start > max(least, first) || start < least-2*chunkSize || end != int64(len(all)) {
				t.Fatalf("%d to %d are kept, %d are needed of %d", start, end, least, len(all))
			}
		case len(readers) > 0:
			x := readers[r.IntN(len(readers))]
			data, more := s.next(x.c)
			if (data == nil) != (x.at == int64(len(all))) || (data == nil) != (more != nil) {
				t.Fatalf("at %d of %d: %d bytes", x.at, len(all), len(data))
			}
			n := r.IntN(len(data) + 1)
			if !bytes.Equal(data, all[x.at:x.at+int64(len(data))]) {
				t.Fatalf("at %d: other bytes", x.at)
			}
			s.advance(x.c, n)
			x.at += int64(n)
			if lag := s.lag(x.c); lag != int64(len(all))-x.at {
				t.Fatalf("%d bytes behind, want %d", lag, int64(len(all))-x.at)
			}
		}
	}
	if s.reopen(first-1) != nil || s.reopen(int64(len(all))+1) != nil {
		t.Error("a cursor outside of the stream")
	}
}

func TestStreamSelectsDatabaseAfterNewReplica(t *testing.T) {
	s := newStream(0)
	c := s.open()
	text := func() string {
		data, _ := s.next(c)
		s.advance(c, len(data))
		return string(data)
	}
	const selectTwo = "*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n"
	s.write(2, []byte("a"))
	s.write(2, []byte("b"))
	s.write(-1, []byte("c"))
	if got := text(); got != selectTwo+"abc" {
		t.Errorf("%q", got)
	}
	s.open()
	s.write(2, []byte("d"))
	if got := text(); got != selectTwo+"d" {
		t.Errorf("%q", got)
	}
	if c := s.reopen(0); c == nil {
		t.Error("the stream does not reach back to its begin")
	}
	s.write(2, []byte("e"))
	if got := text(); got != "e" {
		t.Errorf("%q: a replica that comes back knows the database", got)
	}
	_, more := s.next(c)
	select {
	case <-more:
		t.Error("there is nothing more")
	default:
	}
	s.write(-1, []byte("f"))
	<-more
}
