package cache

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/pending"
)

// Items come from chunks and, where a chunk has no line, from rows. A chunk that is malformed is none.
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
		if n/layout.ChunkItems != 2 && n/layout.ChunkItems != 3 {
			c.putElement(p, number(n), fmt.Append(nil, "r", n))
		}
	}
	chunk(48, "c")
	chunk(56, "c")
	items := func(from, n int, chunks bool) (got []string) {
		var into Items
		into.Add([]byte("before"))
		if !c.Items(p, gen, number(uint64(from))[8:], n, chunks, &into) {
			return nil
		}
		for i := range into.Len() {
			got = append(got, string(into.At(i)))
		}
		return got[1:]
	}
	for _, tt := range []struct {
		from, n int
		chunks  bool
		want    []string
	}{
		{14, 4, true, []string{"r14", "r15", "c16", "c17"}},
		{31, 2, true, []string{"c31", "r32"}},
		{60, 4, true, []string{"c60", "c61", "c62", "c63"}},
		{31, 2, false, nil},
		{40, 2, false, []string{"r40", "r41"}},
		{62, 3, true, nil},
	} {
		if got := items(tt.from, tt.n, tt.chunks); !slices.Equal(got, tt.want) {
			t.Errorf("%d items from %d, chunks %v: %v, want %v", tt.n, tt.from, tt.chunks, got, tt.want)
		}
	}
	c.putElement(p, append(number(16), layout.ChunkKind), []byte{1, 'x', 200})
	if got := items(16, 3, true); got != nil {
		t.Errorf("a malformed chunk has %v", got)
	}
}

// The numbers of a row and those of a chunk are not in the cache at once, however the second of them comes.
func TestRowAndChunkExcludeEachOther(t *testing.T) {
	const p = layout.Place(7)
	item := binary.BigEndian.AppendUint64(append(binary.BigEndian.AppendUint64(nil, 1), layout.ItemKind), 1<<63+13)
	chunk := append(binary.BigEndian.AppendUint64(append(binary.BigEndian.AppendUint64(nil, 1), layout.ItemKind), 1<<63+8), layout.ChunkKind)
	all := slices.Repeat([]byte{1, 'x'}, layout.ChunkItems)
	change := func(key []byte) *pending.Changes {
		var cs pending.Changes
		cs.Add(pending.Change{Place: p, Key: key, Sub: len(key) - 8, Value: all})
		return &cs
	}
	foreign := func(key []byte) *pending.Changes {
		var cs pending.Changes
		cs.AddForeign(pending.Change{Place: p, Key: key, Sub: len(key) - 8})
		return &cs
	}
	tooLarge := change(item)
	tooLarge.List[0].Value = make([]byte, maxLine+1)
	for i, tt := range []struct {
		first []byte
		then  *pending.Changes
	}{
		{chunk, change(item)}, {item, change(chunk)}, {chunk, foreign(item)}, {item, foreign(chunk)}, {chunk, tooLarge},
	} {
		c, err := New(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		c.ApplyElements(change(tt.first))
		if _, _, answer := c.Element(p, tt.first, nil, nil); answer != Hit {
			t.Fatalf("case %d: what was put is not there", i)
		}
		c.ApplyElements(tt.then)
		if _, value, answer := c.Element(p, tt.first, nil, nil); answer != Miss {
			t.Errorf("case %d: the cache has still %q", i, value)
		}
	}
}
