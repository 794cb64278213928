package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
)

// pair opens two stores that hold the same keys.
func pair(t *testing.T, keys, size int) (src, dst *Store) {
	t.Helper()
	src = openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	t.Cleanup(func() { src.mustClose(t) })
	dst = openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	t.Cleanup(func() { dst.mustClose(t) })
	src.fill(t, keys, size)
	copyAll(t, src, dst, ring.Whole, 0)
	return src, dst
}

// copyAll copies a range and returns how many bytes have travelled, digests included.
func copyAll(t *testing.T, src, dst *Store, r ring.Range, n int) int {
	t.Helper()
	l := newLink(t, src, dst, r)
	for !l.copy.Done() {
		if err := l.chunk(ChunkSize, n, true); err != nil {
			t.Fatal(err)
		}
	}
	l.close(t)
	mustEqual(t, r, src, dst)
	return l.bytes
}

// TestOnlyDifferencesAreCopied, with digests.
func TestOnlyDifferencesAreCopied(t *testing.T) {
	oneGoroutine(t)
	src, dst := pair(t, 6400, 500)
	all := copyAll(t, src, dst, ring.Whole, 0)
	same := copyAll(t, src, dst, ring.Whole, 500)
	for i := range 10 {
		src.set(t, fmt.Sprintf("key:%012d", 17*i), strings.Repeat("n", 400), 0)
		dst.set(t, fmt.Sprintf("key:%012d", 19*i), strings.Repeat("m", 400), 0)
		dst.set(t, fmt.Sprintf("only:%d", i), strings.Repeat("m", 400), 0)
	}
	few := copyAll(t, src, dst, ring.Whole, 500)
	t.Logf("%d bytes: all %d, of equal stores %d, with 30 differences %d", 6400*516, all, same, few)
	if same*10 > all || few > same+30*1000 {
		t.Error("too much has travelled")
	}
	dst.audit(t)
}

// TestReceiverRefusesGapInTheStream and takes nothing more then.
func TestReceiverRefusesGapInTheStream(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	long := (&layout.Header{Type: String, Gen: 7, Count: 100_000}).Append(nil)
	low := ring.Range{Start: 0, End: 1 << 31}
	inside, outside := "", ""
	for i := 0; inside == "" || outside == ""; i++ {
		if k := fmt.Sprint(i); low.Contains(testToken([]byte(k))) {
			inside = k
		} else {
			outside = k
		}
	}
	for name, c := range map[string]struct {
		o    ops.Op
		want error
	}{
		"a value that was not begun":    {ops.Op{Kind: ops.PutStaged, Key: []byte(inside), A: long}, ErrGap},
		"an entry without its header":   {ops.Op{Kind: ops.PutSub, Key: []byte(inside), A: []byte("x")}, ErrGap},
		"a key outside":                 {ops.Op{Kind: ops.Remove, Key: []byte(outside)}, ErrBatch},
		"a clearing that is too wide":   {ops.Op{Kind: ops.Drop, Tokens: ring.Whole}, ErrBatch},
		"a clearing of nothing":         {ops.Op{Kind: ops.Clear, A: layout.PositionOf(5), B: layout.PositionOf(5)}, ErrBatch},
		"a header that is none":         {ops.Op{Kind: ops.Put, Key: []byte(inside), A: []byte{9, 9}}, ErrBatch},
		"an entry without a sub key":    {ops.Op{Kind: ops.RemoveSub, Key: []byte(inside)}, ErrBatch},
		"a new value without a version": {ops.Op{Kind: ops.PutNew, Key: []byte(inside), A: []byte{1, 0}}, ErrBatch},
	} {
		rc := s.NewReceiver(low)
		first := ops.NewWriter(0, 0)
		first.Add(&ops.Op{Kind: ops.Put, Key: []byte(inside), A: []byte{1, 0, 'v'}})
		w := ops.NewWriter(0, 0)
		w.Add(&ops.Op{Kind: ops.Put, Key: []byte(inside), A: []byte{1, 0, 'w'}})
		if c.o.Kind == ops.Drop {
			w = ops.NewWriter(0, 0)
		}
		w.Add(&c.o)
		if _, err := rc.Apply(first.Buf, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := rc.Apply(w.Buf, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := rc.Apply(first.Buf, nil); !errors.Is(err, c.want) {
			t.Errorf("after %s: %v", name, err)
		}
		if v, _ := s.get(t, inside); v != "v" {
			t.Errorf("after %s: %q", name, v)
		}
		rc.Close()
	}
	s.audit(t)
}

// TestGenerationsAreEachStoresOwn: a value that arrives never meets entries of one that
// was here, though the sender's number for it is the same.
func TestGenerationsAreEachStoresOwn(t *testing.T) {
	src := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer src.mustClose(t)
	dst := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer dst.mustClose(t)
	// The same key, the same number, other contents; deleted, but not collected.
	dst.set(t, "k", strings.Repeat("d", 5*pieceSize), 0)
	dst.inUnit(t, func(u *Unit) {
		v, _ := u.Get([]byte("k"))
		u.Delete([]byte("k"), v)
	}, "k")
	src.set(t, "k", strings.Repeat("s", pieceSize)+strings.Repeat("\x00", 3*pieceSize)+"s", 0)
	copyAll(t, src, dst, ring.Whole, 0)
	dst.collectAll(t)
	mustEqual(t, ring.Whole, src, dst)
	dst.audit(t)
}

// TestReceivedKeysAreSeenAtOnce, whatever the cache held.
func TestReceivedKeysAreSeenAtOnce(t *testing.T) {
	src, dst := pair(t, 64, 100)
	l := newLink(t, src, dst, ring.Whole)
	for !l.copy.Done() {
		if err := l.chunk(ChunkSize, 0, false); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 {
		key := fmt.Sprintf("key:%012d", i%70)
		want := fmt.Sprint(i)
		if v, _ := dst.get(t, key); v == want { // fills the cache
			t.Fatal("too early")
		}
		src.set(t, key, want, 0) // returns when it has been acknowledged
		if v, _ := dst.get(t, key); v != want {
			t.Fatalf("%s is %q there, want %q", key, v, want)
		}
	}
	l.close(t)
	checkCache(t, dst)
}
