package store

import (
	"bytes"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
	"github.com/ringside-kv/ringside/store/internal/syncqueue"
)

// putBatch returns a batch with so many keys of its own.
func putBatch(prefix string, keys int) []byte {
	w := ops.NewWriter(0, 0)
	for i := range keys {
		w.Add(&ops.Op{Kind: ops.Put, Key: []byte(prefix + strconv.Itoa(i)), A: (&layout.Header{Type: String, Value: []byte("v")}).Append(nil)})
	}
	return w.Buf
}

// TestFollowerSettlesItsCommits where that takes no fsync: what was applied is durable,
// and who waits is told, by the time that it returns.
func TestFollowerSettlesItsCommits(t *testing.T) {
	for _, mode := range []Fsync{FsyncNo, FsyncEverySec, FsyncAlways} {
		s := openTest(t, memConfig(vfs.NewMem(), mode))
		s.SetActive()
		rc := s.NewReceiver(ring.Whole)
		w := newTold()
		wait, err := rc.ApplyAll([][]byte{putBatch("a", 2*unitOps), putBatch("b", 1)}, w)
		if err != nil || !wait {
			t.Fatal(mode, wait, err)
		}
		if mode != FsyncAlways && !w.done.Load() {
			t.Errorf("%s: who waits is not told, and %d are settled", mode, s.syncs.DurableUpTo())
		}
		if <-w.ch; w.err != nil {
			t.Error(w.err)
		}
		rc.Close()
		s.mustClose(t)
	}
}

// TestFollowerSettlesWhatIsInTheLog: who follows has its own commits settled, and those of others that
// wait, once all of them are in the log.
func TestFollowerSettlesWhatIsInTheLog(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncEverySec))
	defer s.mustClose(t)
	s.SetActive()
	rc := s.NewReceiver(ring.Whole)
	defer rc.Close()
	other := s.NewUnit()
	other.syncsItself = true
	for range 20 {
		before, key, first, w := s.wal.Bytes(), []byte("other"), newTold(), newTold()
		other.Begin(s.now(), []Place{other.Place(key)})
		v, err := other.Get(key)
		if err == nil {
			err = other.PutString(key, v, bytes.Repeat([]byte("v"), 1000), 0, false)
		}
		if err == nil {
			_, err = other.Commit(first)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rc.ApplyAll([][]byte{putBatch("follower", 100)}, w); err != nil || !w.done.Load() || w.err != nil {
			t.Fatal(err, w.done.Load(), w.err)
		}
		if !first.done.Load() || first.err != nil {
			t.Fatal("the commit of the other is not settled", first.err)
		}
		if n := s.wal.Bytes() - before; n < 100*int64(len("follower"))+1000 {
			t.Errorf("%d bytes are in the log when they are settled", n)
		}
	}
}

// TestCommitsOfStoppedFollowerAreSettled when it cannot go on, though nobody else commits.
func TestCommitsOfStoppedFollowerAreSettled(t *testing.T) {
	s, rc := follower(t, ring.Whole)
	defer rc.Close()
	before := s.lastSettlement()
	if _, err := rc.ApplyAll([][]byte{putBatch("a", 2*unitOps), {ops.BatchVersion}}, newTold()); !errors.Is(err, ErrBatch) {
		t.Fatal(err)
	}
	if s.lastSettlement() == before {
		t.Fatal("nothing was applied")
	}
	s.settles(t)
}

// TestCommitsAreSettledInOrder, whoever does it: who settles waits for the group before.
func TestCommitsAreSettledInOrder(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		let := make(chan struct{})
		var syncs atomic.Int32
		s := syncqueue.New(func() error { return nil }, func() error {
			syncs.Add(1)
			<-let
			return nil
		})
		first, second, other := newTold(), newTold(), newTold()
		s.Add(first)
		synctest.Wait() // the goroutine is at it
		s.Enqueue(syncqueue.Commit{Writes: true, Waiter: second}, false)
		s.Enqueue(syncqueue.Commit{Waiter: other}, false)
		settled := make(chan struct{})
		go func() {
			defer close(settled)
			s.SyncNow()
		}()
		synctest.Wait()
		if first.done.Load() || second.done.Load() || s.IsDurable(1) || syncs.Load() != 1 {
			t.Errorf("settled %d in %d syncs under way", s.DurableUpTo(), syncs.Load())
		}
		let <- struct{}{}
		synctest.Wait()
		if !first.done.Load() || !s.IsDurable(1) || second.done.Load() || s.IsDurable(2) {
			t.Errorf("after one sync: %v %v, %d settled", first.done.Load(), second.done.Load(), s.DurableUpTo())
		}
		let <- struct{}{}
		<-settled
		if !second.done.Load() || !other.done.Load() || !s.IsDurable(3) {
			t.Errorf("after both: %v %v, %d settled", second.done.Load(), other.done.Load(), s.DurableUpTo())
		}
		// What is queued without a wake is seen by whoever comes next, and by rouse.
		third := newTold()
		s.Enqueue(syncqueue.Commit{Waiter: third}, false)
		s.Wake()
		<-third.ch
		s.Close()
	})
}
