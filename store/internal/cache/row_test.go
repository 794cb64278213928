package cache

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A row has no more than it can hold. Of an item that does not fit, not even what it was
// before is there, and it is not said not to exist.
func TestRowThatIsTooLarge(t *testing.T) {
	c, err := New(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const gen = 7
	c.Begin(gen)
	key := func(n uint64) []byte {
		return binary.BigEndian.AppendUint64(append(binary.BigEndian.AppendUint64(nil, gen), layout.ItemKind), n)
	}
	large := func(n uint64) []byte { return bytes.Repeat([]byte{byte(n)}, maxLine) }
	is := func(n uint64, want []byte, wanted Answer) {
		t.Helper()
		if _, got, answer := c.Element(1, key(n), nil, new(NearRow)); answer != wanted || !bytes.Equal(got, want) {
			t.Errorf("item %d is %d bytes, %d, not %d bytes, %d", n, len(got), answer, len(want), wanted)
		}
	}
	c.putElement(1, key(3), []byte("before"))
	is(3, []byte("before"), Hit)
	is(4, nil, Absent)
	for n := range uint64(3) {
		c.putElement(1, key(n), large(n))
	}
	is(3, []byte("before"), Hit)
	is(4, nil, Absent)
	c.putElement(1, key(3), large(3))
	for n := range uint64(3) {
		is(n, large(n), Hit)
	}
	is(3, nil, Miss)
	is(4, nil, Miss)
	for n := range uint64(3) {
		c.removeElement(1, key(n))
	}
	if _, lines := c.Usage(); lines != 0 {
		t.Errorf("%d lines of rows without an item", lines)
	}
	c.putElement(1, key(3), large(3))
	is(3, large(3), Hit)
}

// The items of a list share the lines of the cache, eight each.
func TestItemsTakeLittleMemory(t *testing.T) {
	c, err := New(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	key := append(make([]byte, 8), layout.ItemKind)
	for n := range uint64(8000) {
		c.putElement(1, binary.BigEndian.AppendUint64(key[:9:9], 1<<40+n), []byte("abc"))
	}
	if size, lines := c.Usage(); lines != 1000 || size > 8000*16 {
		t.Errorf("%d bytes in %d lines", size, lines)
	}
}

// Items that come and go at the same place leave nothing behind.
func TestRowDoesNotGrowByRemovedItems(t *testing.T) {
	c, err := New(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	prefix := append(make([]byte, 8), layout.ItemKind)
	for i := range 10_000 {
		key := binary.BigEndian.AppendUint64(prefix[:9:9], uint64(i%rowItems))
		value := bytes.Repeat([]byte{byte(i)}, 1+i%100)
		c.putElement(1, key, value)
		if _, got, answer := c.Element(1, key, nil, nil); answer != Hit || !bytes.Equal(got, value) {
			t.Fatalf("step %d: %d bytes, %d, not %d", i, len(got), answer, len(value))
		}
		if i%3 == 0 {
			c.removeElement(1, key)
		}
	}
	if size, lines := c.Usage(); lines != 1 || size > 4<<10 {
		t.Errorf("%d bytes in %d lines", size, lines)
	}
}
