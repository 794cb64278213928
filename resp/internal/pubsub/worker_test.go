package pubsub

import (
	"sync"
	"sync/atomic"
	"testing"
)

// A reader counts how often what is queued for it leaves.
type reader struct {
	Subscriber
	kicks atomic.Int64
}

func (r *reader) Kick() { r.kicks.Add(1) }

func delivery(to *reader, bytes int) *Delivery {
	m := &Delivery{queued: bytes}
	if to != nil {
		m.dirty = append(m.dirty, to)
	}
	return m
}

// What clients publish in one round leaves at its end, with one write for each subscriber; more than the room leaves before.
func TestMessagesOfARoundLeaveAtItsEnd(t *testing.T) {
	var done sync.WaitGroup
	var w Worker
	w.Init(&done)
	var ends []func()
	atEnd := func(f func()) { ends = append(ends, f) }
	one, other := new(reader), new(reader)

	w.Send(delivery(one, 10), atEnd)
	w.Send(delivery(other, 10), atEnd)
	w.Send(delivery(nil, 10), atEnd) // its subscriber is to be written to already
	if one.kicks.Load()+other.kicks.Load() > 0 || len(ends) != 1 {
		t.Fatalf("%d and %d writes and %d ends before the end of the round", one.kicks.Load(), other.kicks.Load(), len(ends))
	}
	ends[0]()
	if one.kicks.Load() != 1 || other.kicks.Load() != 1 {
		t.Errorf("%d and %d writes after it, want one each", one.kicks.Load(), other.kicks.Load())
	}

	w.Send(delivery(one, 10), atEnd)
	w.Send(delivery(other, workerRoom), atEnd)
	done.Wait()
	if one.kicks.Load() != 2 || other.kicks.Load() != 2 {
		t.Errorf("%d and %d writes of more than the room, want another one each", one.kicks.Load(), other.kicks.Load())
	}
	ends[1]() // for which nothing is left

	w.Send(delivery(one, 10), atEnd)
	if len(ends) != 3 {
		t.Fatalf("%d ends, want another one", len(ends))
	}
	ends[2]()
	if one.kicks.Load() != 3 || other.kicks.Load() != 2 {
		t.Errorf("%d and %d writes in the end", one.kicks.Load(), other.kicks.Load())
	}
}

// Without a turn what is published leaves at once.
func TestMessagesWithoutATurnLeaveAtOnce(t *testing.T) {
	var done sync.WaitGroup
	var w Worker
	w.Init(&done)
	at := new(reader)
	for i := range int64(3) {
		w.Send(delivery(at, workerRoom+1), func(f func()) { f() })
		if at.kicks.Load() != i+1 {
			t.Errorf("%d writes, want %d", at.kicks.Load(), i+1)
		}
	}
}
