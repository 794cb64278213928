package client

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Batch is one call as it arrives at a peer. It is answered exactly once, by Reply,
// Refuse or Fail, from any goroutine, and must not be touched afterwards: it is used
// again for another.
type Batch struct {
	// Commands are N raw commands, valid until the answer. Whoever sent them is a
	// peer, but the bytes are a client's: they may be any.
	Commands []byte
	N        int
	// RESP3 says how replies are to be encoded.
	RESP3 bool
	// Early says that replies to writes need not wait for backups.
	Early bool
	// Keeps, Author and Known are as in [Call].
	Keeps  bool
	Author int64
	Known  uint64
	// NoTouch says that the commands are no use of their keys.
	NoTouch bool
	// Atomic and Part are as in [Call].
	Atomic bool
	Part   bool
	// Trace is the context of a trace that the commands belong to; nil: none. It is valid for good.
	Trace []byte
	// Deadline is when the caller gives the call up, or a little before, on
	// [ServeConfig.Clock]: do not begin to execute it then. 0 stands for no deadline.
	Deadline time.Duration

	w        *replyWriter
	id       uint64
	answered atomic.Bool
}

var batches = sync.Pool{New: func() any { return new(Batch) }}

func newBatch(w *replyWriter, r *requestFrame) *Batch {
	b := batches.Get().(*Batch)
	b.w, b.id = w, r.id
	b.Commands = append(b.Commands[:0], r.commands...)
	b.N, b.RESP3, b.Early, b.Deadline = int(r.count), r.resp3, r.early, r.deadline
	b.Keeps, b.Author, b.NoTouch, b.Known, b.Atomic, b.Part = r.keeps, r.author, r.noTouch, r.known, r.atomic, r.part
	if b.Trace = nil; r.trace != nil {
		b.Trace = bytes.Clone(r.trace)
	}
	b.answered.Store(false)
	return b
}

func (b *Batch) recycle() {
	b.w = nil
	if cap(b.Commands) <= readBuffer {
		batches.Put(b)
	}
}

// Reply answers with the raw replies, which lie end to end in replies, the length of
// each in lens. There must be one for each command; if there is not, the connection ends,
// since the commands have been executed and the caller must not think otherwise. Replies
// that do not fit a frame are answered like Fail.
//
// marks has a byte for each reply, or none at all: 0 for a reply of the command itself, and
// other values, whose meaning both sides agree on, for what this side says of the command.
// All three are copied.
func (b *Batch) Reply(lens []uint32, marks, replies []byte) error {
	if !b.answered.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: answered twice", ErrInUse)
	}
	defer b.recycle()
	var sum uint64
	for _, n := range lens {
		sum += uint64(n)
	}
	if len(lens) != b.N || sum != uint64(len(replies)) || len(marks) != 0 && len(marks) != b.N {
		err := fmt.Errorf("%w: %d replies of %d bytes in %d with %d marks to %d commands", ErrProtocol, len(lens), sum, len(replies), len(marks), b.N)
		b.w.abort(err)
		return err
	}
	if replySize(len(lens), len(marks), len(replies)) > b.w.cfg.MaxFrame {
		b.w.text(b.id, statusUnknown, "the replies are too large for a frame", len(b.Commands))
		return ErrTooLarge
	}
	b.w.reply(b.id, lens, marks, replies, len(b.Commands))
	return nil
}

// Refuse answers that nothing of the batch was executed, and why.
func (b *Batch) Refuse(text string) { b.say(statusRefused, text) }

// Fail answers that what became of the batch is not known, and why.
func (b *Batch) Fail(text string) { b.say(statusUnknown, text) }

func (b *Batch) say(s status, text string) {
	if !b.answered.CompareAndSwap(false, true) {
		return
	}
	defer b.recycle()
	b.w.text(b.id, s, text, len(b.Commands))
}
