package cache

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Items come from chunks and, where a chunk has no line, from rows if these may be used. A chunk that is malformed is
// none.
func TestItemsComeFromChunksAndRows(t *testing.T) {
	c, err := New(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	const p, gen = layout.Place(7), 1
	number := func(n uint64) []byte {
		key := binary.BigEndian.AppendUint64(nil, gen)
		return binary.BigEndian.AppendUint64(append(key, layout.ItemKind), n)
	}
	chunk := func(from uint64, name string) {
		var all []byte
		for i := range layout.ChunkItems {
			e := fmt.Sprint(name, from+uint64(i))
			all = append(append(all, byte(len(e))), e...)
		}
		c.putElement(p, append(number(from), layout.ChunkKind), all)
	}
	chunk(16, "c")
	chunk(24, "c")
	for n := range uint64(64) {
		c.putElement(p, number(n), fmt.Append(nil, "r", n)) // also where there are chunks: they stay in the cache
	}
	chunk(48, "c")
	chunk(56, "c")
	items := func(from, n int, rows, chunks bool) (got []string) {
		var into Items
		into.Add([]byte("before"))
		if !c.Items(p, gen, number(uint64(from))[8:], n, rows, chunks, &into) {
			return nil
		}
		for i := range into.Len() {
			got = append(got, string(into.At(i)))
		}
		return got[1:]
	}
	for _, tt := range []struct {
		from, n      int
		rows, chunks bool
		want         []string
	}{
		{14, 4, true, true, []string{"r14", "r15", "c16", "c17"}},
		{31, 2, true, true, []string{"c31", "r32"}},
		{60, 4, false, true, []string{"c60", "c61", "c62", "c63"}},
		{31, 2, false, true, nil},
		{62, 2, true, false, []string{"r62", "r63"}},
		{62, 3, true, true, nil},
	} {
		if got := items(tt.from, tt.n, tt.rows, tt.chunks); !slices.Equal(got, tt.want) {
			t.Errorf("%d items from %d, rows %v, chunks %v: %v, want %v", tt.n, tt.from, tt.rows, tt.chunks, got, tt.want)
		}
	}
	c.putElement(p, append(number(16), layout.ChunkKind), []byte{1, 'x', 200})
	if got := items(16, 3, false, true); got != nil {
		t.Errorf("a malformed chunk has %v", got)
	}
	if got := items(16, 2, true, true); !slices.Equal(got, []string{"r16", "r17"}) {
		t.Errorf("in place of a malformed chunk: %v", got)
	}
}
