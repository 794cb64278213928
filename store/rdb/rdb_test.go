package rdb

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestChecksum has the check value that Redis' own test has.
func TestChecksum(t *testing.T) {
	if sum := checksum([]byte("123456789")); sum != 0xe9c6d914c4b8d9ca {
		t.Errorf("%#x", sum)
	}
	if sum := checksum(nil); sum != 0 {
		t.Errorf("of nothing: %#x", sum)
	}
}

// TestGolden has payloads that Redis 7.0.15 wrote.
func TestGolden(t *testing.T) {
	for _, g := range golden {
		value := strings.Repeat(g.value, max(1, g.times))
		payload, err := hex.DecodeString(g.payload)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendString([]byte("before"), []byte(value)); string(got) != "before"+string(payload) {
			t.Errorf("%s becomes\n%x, want\n%x", show([]byte(value)), got[len("before"):], payload)
		}
		v, err := Decode(payload, int64(len(value)))
		if err != nil || string(v.Bytes) != value || v.Type != String {
			t.Errorf("%s is read as %s, %v", show([]byte(value)), show(v.Bytes), err)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, v := range append(borders(), samples(rand.New(rand.NewPCG(seed, 1)), 3000)...) {
		payload := AppendString(nil, v)
		if len(payload) > len(v)+1+5+footerLen {
			t.Errorf("%s takes %d bytes", show(v), len(payload))
		}
		got, err := Decode(payload, int64(len(v)))
		if err != nil || !bytes.Equal(got.Bytes, v) {
			t.Errorf("%s becomes %s, %v", show(v), show(got.Bytes), err)
		}
		if len(v) == 0 {
			continue
		}
		if _, err := Decode(payload, int64(len(v)-1)); !isOnly(err, ErrTooLarge) {
			t.Errorf("%s above the limit: %v", show(v), err)
		}
	}
}

// TestAppendStringIsTheSameEveryTime would fail if the table of an earlier value
// showed through.
func TestAppendStringIsTheSameEveryTime(t *testing.T) {
	values := samples(rand.New(rand.NewPCG(7, 7)), 300)
	first := make([][]byte, len(values))
	for i, v := range values {
		first[i] = AppendString(nil, v)
	}
	for i := len(values) - 1; i >= 0; i-- {
		if again := AppendString(nil, values[i]); !bytes.Equal(again, first[i]) {
			t.Errorf("%s becomes %x, then %x", show(values[i]), first[i], again)
		}
	}
}

// TestTableStartsAgain lets the numbers of a table run out.
func TestTableStartsAgain(t *testing.T) {
	v := []byte(strings.Repeat("words and words ", 20))
	want, ok := lzfAppend(nil, v, len(v))
	if !ok {
		t.Fatal("not compressed")
	}
	const last = math.MaxUint32
	n := uint32(len(v))
	for _, next := range []uint32{1, last - n - 1, last - n, last - n + 1, last} {
		table := &lzfTable{next: next}
		for i := range table.slot {
			table.slot[i] = next - 1 // the youngest of what came before
		}
		table.begin(len(v))
		if table.base == 0 || uint64(table.base)+uint64(len(v)) > math.MaxUint32 {
			t.Errorf("next %d: base %d", next, table.base)
		}
		if _, ok := table.swap(v, 5); ok {
			t.Errorf("next %d: there is something in a new table", next)
		}
		if ref, ok := table.swap(v, 21); !ok || ref != 5 {
			t.Errorf("next %d: %d, %t", next, ref, ok)
		}
	}
	if got, _ := lzfAppend(nil, v, len(v)); !bytes.Equal(got, want) {
		t.Errorf("%x, then %x", want, got)
	}
}

func TestDecodeErrors(t *testing.T) {
	long := AppendString(nil, []byte(strings.Repeat("a", 1000)))
	for _, c := range []struct {
		name string
		body []byte
		want error
	}{
		{"nothing", nil, ErrFormat},
		{"type only", []byte{0}, ErrFormat},
		{"type that does not exist", []byte{34, 0}, ErrFormat},
		{"array of Redis 8.8", []byte{28, 0}, ErrType},
		{"type that never existed", []byte{8, 0}, ErrFormat},
		{"expiry opcode", []byte{0xfc, 0}, ErrFormat},
		{"module", []byte{7, 0}, ErrType},
		{"no second byte of a length", []byte{0, 0x40}, ErrFormat},
		{"short 32-bit length", []byte{0, 0x80, 0, 0, 0}, ErrFormat},
		{"short 64-bit length", []byte{0, 0x81, 0, 0, 0, 0, 0, 0, 0}, ErrFormat},
		{"unknown form of length", []byte{0, 0x82, 0, 0, 0, 0}, ErrFormat},
		{"unknown encoding", []byte{0, 0xc4, 0}, ErrFormat},
		{"string that is not there", []byte{0, 5, 'a', 'b', 'c', 'd'}, ErrFormat},
		{"string of 2^64-1 bytes", []byte{0, 0x81, 255, 255, 255, 255, 255, 255, 255, 255, 'a'}, ErrFormat},
		{"short 8-bit integer", []byte{0, 0xc0}, ErrFormat},
		{"short 16-bit integer", []byte{0, 0xc1, 1}, ErrFormat},
		{"short 32-bit integer", []byte{0, 0xc2, 1, 2, 3}, ErrFormat},
		{"byte after the value", []byte{0, 1, 'a', 'b'}, ErrFormat},
		{"no lengths of LZF", []byte{0, 0xc3}, ErrFormat},
		{"no second length of LZF", []byte{0, 0xc3, 1}, ErrFormat},
		{"encoding for a length", []byte{0, 0xc3, 0xc0, 5, 'a'}, ErrFormat},
		{"LZF that is not there", []byte{0, 0xc3, 5, 10, 0, 'a'}, ErrFormat},
		{"LZF literal too short", []byte{0, 0xc3, 2, 2, 1, 'a'}, ErrFormat},
		{"LZF without offset", []byte{0, 0xc3, 3, 4, 0, 'a', 0x20}, ErrFormat},
		{"LZF without long length", []byte{0, 0xc3, 3, 10, 0, 'a', 0xe0}, ErrFormat},
		{"LZF without offset after long length", []byte{0, 0xc3, 4, 10, 0, 'a', 0xe0, 0}, ErrFormat},
		{"LZF before the beginning", []byte{0, 0xc3, 4, 4, 0, 'a', 0x20, 1}, ErrFormat},
		{"LZF longer than it says", []byte{0, 0xc3, 4, 3, 0, 'a', 0x20, 0}, ErrFormat},
		{"LZF shorter than it says", []byte{0, 0xc3, 4, 5, 0, 'a', 0x20, 0}, ErrFormat},
		{"LZF of nothing", []byte{0, 0xc3, 0, 5}, ErrFormat},
		{"LZF far too long", []byte{0, 0xc3, 4, 0x81, 0, 0, 1, 0, 0, 0, 0, 0, 0, 'a', 0x20, 0}, ErrTooLarge},
		{"LZF implausible", []byte{0, 0xc3, 4, 0x80, 0, 0, 0x10, 0, 0, 'a', 0x20, 0}, ErrFormat},
		{"string above the limit", append([]byte{0, 0x50, 0x01}, make([]byte, 0x1001)...), ErrTooLarge},
	} {
		v, err := Decode(sealAs(c.body, Version), 4096)
		if !isOnly(err, c.want) || v.Bytes != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for i := range long {
		if _, err := Decode(long[:i], 4096); !isOnly(err, ErrPayload) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

func TestVersions(t *testing.T) {
	body := []byte{0, 1, 'a'}
	for version := range uint16(MaxVersion + 1) {
		if v, err := Decode(sealAs(bytes.Clone(body), version), 1); err != nil || string(v.Bytes) != "a" {
			t.Errorf("version %d: %v", version, err)
		}
	}
	if v, err := Decode(sealAs(bytes.Clone(body), ValkeyVersion), 1); err != nil || string(v.Bytes) != "a" {
		t.Errorf("version of Valkey: %v", err)
	}
	if _, err := Decode(sealAs([]byte{typeValkeyHash + 1, 1}, ValkeyVersion), 100); !isOnly(err, ErrFormat) {
		t.Errorf("a type that Valkey does not have: %v", err)
	}
	for _, version := range []uint16{MaxVersion + 1, ValkeyVersion - 1, ValkeyVersion + 1, 256, 65535} {
		if _, err := Decode(sealAs(bytes.Clone(body), version), 1); !isOnly(err, ErrPayload) {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// TestNegativeLimit: nothing is short enough for it, and nothing breaks.
func TestNegativeLimit(t *testing.T) {
	for _, v := range []string{"", "1", "abc", strings.Repeat("a", 100)} {
		if _, err := Decode(AppendString(nil, []byte(v)), -1); !isOnly(err, ErrTooLarge) {
			t.Errorf("%q: %v", v, err)
		}
	}
}

func TestLongLengths(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "00", 63: "3f", 64: "4040", 16383: "7fff", 16384: "8000004000",
		1<<32 - 1: "80ffffffff", 1 << 32: "810000000100000000", 1<<64 - 1: "81ffffffffffffffff",
	} {
		b := appendLen(nil, n)
		if hex.EncodeToString(b) != want {
			t.Errorf("%d: %x", n, b)
		}
		got, enc, rest, err := readLen(append(b, 7))
		if got != n || enc || len(rest) != 1 || err != nil {
			t.Errorf("%d: %d, %t, %d left, %v", n, got, enc, len(rest), err)
		}
	}
}

func BenchmarkAppendString(b *testing.B) {
	for _, n := range []int{10, 100, 10_000} {
		for _, kind := range sampleKinds[:4] {
			v := kind.gen(rand.New(rand.NewPCG(1, 2)), n)
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				var buf []byte
				for b.Loop() {
					buf = AppendString(buf[:0], v)
				}
			})
		}
	}
}
