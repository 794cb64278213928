package store

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
)

// someBatches are batches of all kinds of operations.
func someBatches() [][]byte {
	line := (&layout.Header{Type: String, Value: []byte("v"), Expiry: 1 << 50}).Append(nil)
	long := (&layout.Header{Type: String, Gen: 7, Count: 100_000}).Append(nil)
	w := ops.NewWriter(0, 0)
	w.Add(&ops.Op{Kind: ops.Stage, Key: []byte("k"), Gen: 7})
	w.Add(&ops.Op{Kind: ops.PutSub, Key: []byte("k"), A: []byte{0, 0, 0, 0}, B: []byte("piece")})
	staged := w.Buf
	w = ops.NewWriter(0, 0)
	w.Add(&ops.Op{Kind: ops.PutStaged, Key: []byte("k"), A: long})
	w.Add(&ops.Op{Kind: ops.RemoveSubs, Key: []byte("k"), A: []byte{0, 0, 0, 1}})
	w.Add(&ops.Op{Kind: ops.RemoveSub, Key: []byte("k"), A: []byte{0, 0, 0, 3}})
	w.Add(&ops.Op{Kind: ops.Remove, Key: []byte("gone")})
	w.Add(&ops.Op{Kind: ops.Abandon, Key: []byte("k2"), Gen: 9})
	adopted := w.Buf
	w = ops.NewWriter(ops.Copied, 0)
	w.Add(&ops.Op{Kind: ops.Clear, A: layout.PositionOf(0), B: layout.EndPosition})
	w.Add(&ops.Op{Kind: ops.Put, Key: []byte("a"), A: line})
	w.Add(&ops.Op{Kind: ops.PutNew, Key: []byte("f"), A: long})
	w.Add(&ops.Op{Kind: ops.PutSub, Key: []byte("f"), A: []byte{0, 0, 0, 0}, B: nil})
	copied := w.Buf
	w = ops.NewWriter(0, 0)
	w.Add(&ops.Op{Kind: ops.Drop, Tokens: ring.Range{Start: 5, End: 4}})
	return [][]byte{staged, adopted, copied, w.Buf}
}

// FuzzBatch: no bytes break a receiver, and whatever it applies leaves a store whose
// counts and indexes agree.
func FuzzBatch(f *testing.F) {
	for _, b := range someBatches() {
		f.Add(b, []byte{})
		f.Add(b, []byte(layout.PositionOf(1<<63)))
	}
	f.Add(append(someBatches()[0], someBatches()[1][ops.HeadSize:]...), []byte(layout.EndPosition))
	f.Fuzz(func(t *testing.T, b, at []byte) {
		cfg := memConfig(vfs.NewMem(), FsyncNo)
		cfg.Cache = 0
		s := openTest(t, cfg)
		defer s.mustClose(t)
		s.set(t, "a", "old", s.now()+3_600_000)
		s.set(t, "k", string(bytes.Repeat([]byte("x"), 3*pieceSize)), 0)
		rc := s.NewReceiver(ring.Whole)
		if _, err := rc.Apply(b, nil); err == nil {
			if cut, err := s.CutBatch(b, ring.Whole, at); err == nil && len(cut) > len(b)+len(at)+32 {
				t.Errorf("cut at % x, % x has grown to % x", at, b, cut)
			} else if err == nil && cut != nil {
				if _, err := ops.Each(cut, func(*ops.Op) error { return nil }); err != nil {
					t.Errorf("cut at % x, % x is % x: %v", at, b, cut, err)
				}
			}
		}
		rc.Close()
		sweepAll(t, s)
		s.audit(t)
	})
}

// FuzzDigests: they are read as they were written, and no bytes break those who use them.
func FuzzDigests(f *testing.F) {
	s, err := Open(memConfig(vfs.NewMem(), FsyncNo))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	s.fill(f, 256, 20)
	for _, n := range []int{1, 40, 1000} {
		d, err := s.Digest(ring.Whole, nil, n)
		if err != nil {
			f.Fatal(err)
		}
		d.Groups[0].Entries, d.Groups[0].Detailed, err = s.DigestEntries(ring.Whole, d.From, d.GroupEnd(0), 100)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(d.Append(nil), d.AppendEntries(nil, []int{0, len(d.Groups) - 1}))
	}
	f.Fuzz(func(t *testing.T, b, entries []byte) {
		d, err := ParseDigests(b)
		if err != nil {
			return
		}
		if again, err := ParseDigests(d.Append(nil)); err != nil || !bytes.Equal(again.Append(nil), d.Append(nil)) {
			t.Errorf("% x is read again as %v, %v", b, again, err)
		}
		if s.TakeEntries(d, entries) == nil {
			var groups []int
			for i := range d.Groups {
				groups = append(groups, i)
			}
			again, _ := ParseDigests(d.Append(nil))
			text := d.AppendEntries(nil, groups)
			if err := s.TakeEntries(again, text); err != nil || !bytes.Equal(again.AppendEntries(nil, groups), text) {
				t.Errorf("% x with % x is read again as %v, %v", b, entries, again, err)
			}
		}
		for _, r := range []ring.Range{ring.Whole, {Start: 1 << 31, End: 5}} {
			_, _ = s.DifferingGroups(r, d)
			c, err := s.NewCopy(r, d.From)
			if err != nil {
				continue
			}
			was := c.Position()
			if err := c.Chunk(1000, d, func([]byte, Position) {}); err == nil && layout.ComparePositions(r, was, c.Position()) >= 0 {
				t.Errorf("% x: a chunk from %x ends at %x", b, was, c.Position())
			}
		}
	})
}
