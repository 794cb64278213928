package psync

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A history is a stream with its replication id, and what it is made of.
type history struct {
	s       *Server
	id      string
	stream  *stream
	pending *pending
	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup
	done    chan struct{} // closed when nothing of it is left

	// emit is held while something is added to the stream. It comes before the locks of pending and of the stream.
	emit sync.Mutex
	// moments is how many moments are being agreed on: nothing is added to the stream meanwhile.
	moments int
	online  int // replicas that read

	flushing sync.Mutex
	flushes  map[int]bool // databases that were flushed, -1 for all
	rescan   chan []int

	loading   sync.Mutex // guards functions; it comes before emit
	functions uint64     // version of the libraries that replicas have
}

const (
	// flushDelay is the time between the first note of a flush and the command in the stream: until then other nodes
	// have done their part.
	flushDelay = 100 * time.Millisecond
	// rescanRoom is how many keys may wait while others are looked for.
	rescanRoom = 10_000
	// firstOffset is where a stream begins.
	firstOffset = 1
)

// newID returns 40 random hex digits.
func newID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// newHistory begins a history: it is told of changes from now on.
func newHistory(s *Server) *history {
	h := &history{s: s, id: newID(), stream: newStream(firstOffset), pending: newPending(), flushes: make(map[int]bool), rescan: make(chan []int, 1), done: make(chan struct{})}
	h.ctx, h.cancel = context.WithCancelCause(s.ctx)
	h.functions = s.cfg.Functions()
	s.cfg.Follow(h)
	for range feeders {
		f := &feeder{h: h, reader: reader{dial: s.cfg.Dial}}
		h.running.Go(f.run)
	}
	h.running.Go(h.rescans)
	h.running.Go(h.watch)
	return h
}

// end ends the history. It may be called several times, and does not wait.
func (h *history) end(why error) { h.cancel(why) }

// close waits for the goroutines of a history that has ended, once it has no replica any more.
func (h *history) close() {
	h.s.cfg.Follow(nil)
	h.pending.end()
	h.running.Wait()
}

// Changed implements keyevents.Follower.
func (h *history) Changed(stored []byte) {
	head, key := database.Split(stored)
	h.touch(place{h.s.cfg.Policies().Number(head), string(key)})
}

func (h *history) touch(at place) {
	if !h.pending.touch(at) {
		h.end(errTooMany)
	}
}

// Flushed implements keyevents.Follower.
func (h *history) Flushed(n int) {
	h.flushing.Lock()
	defer h.flushing.Unlock()
	if len(h.flushes) == 0 {
		time.AfterFunc(flushDelay, h.flush)
	}
	h.flushes[n] = true
}

// Gap implements keyevents.Follower.
func (h *history) Gap(node string) { h.end(&gapError{node}) }

// flush writes the flushes that were noted, and has the keys noted that the databases have.
func (h *history) flush() {
	h.emit.Lock()
	defer h.emit.Unlock()
	if h.ctx.Err() != nil {
		return
	}
	h.flushing.Lock()
	if h.moments > 0 {
		// The moment may be before the flush, and the replica that it is for reads what is written after it.
		time.AfterFunc(flushDelay, h.flush)
		h.flushing.Unlock()
		return
	}
	all := h.flushes[-1]
	var numbers []int
	for n := range h.s.cfg.Databases() {
		if all || h.flushes[n] {
			numbers = append(numbers, n)
		}
	}
	clear(h.flushes)
	h.flushing.Unlock()
	h.pending.discard()
	if all {
		h.stream.write(-1, wire.AppendRequest(nil, "FLUSHALL"))
	} else {
		for _, n := range numbers {
			h.stream.write(n, wire.AppendRequest(nil, "FLUSHDB"))
		}
	}
	select {
	case before := <-h.rescan:
		numbers = append(before, numbers...) // looking at one twice does no harm
	default:
	}
	h.rescan <- numbers
}

// setOnline notes that so many replicas more read.
func (h *history) setOnline(more int) {
	h.emit.Lock()
	defer h.emit.Unlock()
	h.online += more
	h.openLocked()
}

func (h *history) openLocked() { h.pending.setOpen(h.online > 0 && h.moments == 0) }

// pause has nothing added to the stream until resume, and nothing afterwards that was read before the pause.
func (h *history) pause() {
	h.emit.Lock()
	defer h.emit.Unlock()
	h.moments++
	h.pending.discard()
	h.openLocked()
}

// resume ends a pause, and returns a cursor at the end of the stream if the replica is to have one.
func (h *history) resume(wanted bool) (c *cursor) {
	h.emit.Lock()
	defer h.emit.Unlock()
	if wanted {
		c = h.stream.open()
	}
	h.moments--
	h.openLocked()
	return c
}
