package layout

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"testing"
)

// FuzzHeader: a header is read as it was written, and no bytes break the reader.
func FuzzHeader(f *testing.F) {
	f.Add(uint8(String), true, int64(0), uint64(0), uint64(0), []byte("value"))
	f.Add(uint8(Stream), false, int64(math.MinInt64), uint64(math.MaxUint64), uint64(math.MaxUint64), []byte{})
	f.Add(uint8(Hash), false, int64(1), uint64(1), uint64(127), []byte{0xff, 0})
	f.Add(uint8(0), false, int64(0), uint64(0), uint64(0), []byte{1, flagsKnown, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add(uint8(7), true, int64(-1), uint64(1), uint64(1)<<63, bytes.Repeat([]byte{1, 2, 0x80}, 9))
	f.Fuzz(func(t *testing.T, typ uint8, raw bool, expiry int64, gen, count uint64, value []byte) {
		if h := (Header{}); h.Parse(value) == nil {
			again := h.Append(nil)
			var h2 Header
			if err := h2.Parse(again); err != nil || !equalHeaders(&h, &h2) {
				t.Errorf("% x is %+v, written % x is %+v, %v", value, h, again, h2, err)
			}
			if len(again) > len(value) {
				t.Errorf("% x grew to % x", value, again)
			}
		}
		h := Header{Type: 1 + Type(typ)%Stream, Expiry: expiry, Gen: gen, Value: value}
		if raw {
			h.Flags = FlagRaw
		}
		if gen != 0 {
			h.Count = count // without sub entries there is none
		}
		prefix := []byte("before")
		b := h.Append(prefix)
		if !bytes.HasPrefix(b, prefix) {
			t.Fatalf("% x does not start with what was there", b)
		}
		var got Header
		if err := got.Parse(b[len(prefix):]); err != nil || !equalHeaders(&got, &h) {
			t.Errorf("%+v is read as %+v, %v", h, got, err)
		}
		for i := range b[len(prefix) : len(b)-len(value)] {
			var short Header
			if err := short.Parse(b[len(prefix):][:i]); err == nil {
				t.Errorf("%d bytes of % x are read as %+v", i, b, short)
			}
		}
	})
}

// equalHeaders compares all but the flags that other fields stand for.
func equalHeaders(a, b *Header) bool {
	return a.Type == b.Type && a.Flags&FlagRaw == b.Flags&FlagRaw && a.Expiry == b.Expiry &&
		a.Gen == b.Gen && a.Count == b.Count && bytes.Equal(a.Value, b.Value)
}

// FuzzPlacedKey: a placed key is split as it was put together, whatever follows it;
// the order of keys is that of their places; and no key's prefix is one of another's.
func FuzzPlacedKey(f *testing.F) {
	f.Add(uint64(0), uint64(1), []byte("a"), []byte("b"), []byte{})
	f.Add(uint64(1), uint64(1), []byte{}, []byte("a"), []byte{0})
	f.Add(uint64(1), uint64(1), []byte("a"), []byte("a"), []byte{0xff})
	f.Add(uint64(255), uint64(256), []byte("ab"), []byte("a"), []byte("b"))
	f.Add(uint64(7), uint64(7), bytes.Repeat([]byte("k"), 127), bytes.Repeat([]byte("k"), 128), []byte{})
	f.Add(uint64(7), uint64(7), bytes.Repeat([]byte("k"), 129), bytes.Repeat([]byte("k"), 256), []byte{})
	f.Add(uint64(7), uint64(7), []byte{0, 0, 0, 0, 0, 0, 0, 1, 2}, bytes.Repeat([]byte{0xff}, 20), []byte{})
	f.Fuzz(func(t *testing.T, p1, p2 uint64, k1, k2, sub []byte) {
		for _, b := range [][]byte{k1, k2, sub} { // anything may be read
			p, key, rest, err := SplitPlacedKey(b)
			if err == nil && (p != Place(binary.BigEndian.Uint64(b)) || len(key)+len(rest)+PlaceSize >= len(b)+1) {
				t.Errorf("% x: %x, % x, % x", b, p, key, rest)
			}
		}
		a := AppendPlacedKey(nil, Place(p1), k1)
		b := AppendPlacedKey(nil, Place(p2), k2)
		p, key, rest, err := SplitPlacedKey(append(bytes.Clone(a), sub...))
		if err != nil || p != Place(p1) || !bytes.Equal(key, k1) || !bytes.Equal(rest, sub) {
			t.Errorf("%x, %q, %q: read as %x, %q, %q, %v", p1, k1, sub, p, key, rest, err)
		}
		for i := range a {
			if _, _, _, err := SplitPlacedKey(a[:i]); err == nil {
				t.Errorf("%d bytes of % x are a key", i, a)
			}
		}
		same := p1 == p2 && bytes.Equal(k1, k2)
		if got := bytes.Compare(a, b); got != placedOrder(p1, p2, k1, k2) || (got == 0) != same {
			t.Errorf("%x %q, %x %q: order %d", p1, k1, p2, k2, got)
		}
		if !same && (bytes.HasPrefix(a, b) || bytes.HasPrefix(b, a)) {
			t.Errorf("one of % x and % x is a prefix of the other", a, b)
		}
	})
}

// placedOrder is the order by place, then length, then key. Lengths are uvarints, low
// bits first, so that lengths from 128 on are not in the order of numbers: nothing
// depends on how the keys of one place lie, only that it is always the same.
func placedOrder(p1, p2 uint64, k1, k2 []byte) int {
	byLength := cmp.Compare(len(k1), len(k2))
	if max(len(k1), len(k2)) >= 128 {
		byLength = bytes.Compare(binary.AppendUvarint(nil, uint64(len(k1))), binary.AppendUvarint(nil, uint64(len(k2))))
	}
	return cmp.Or(cmp.Compare(p1, p2), byLength, bytes.Compare(k1, k2))
}
