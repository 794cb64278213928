package buckets

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func TestTableExpandsAsMasksGetWider(t *testing.T) {
	table, err := NewTable(0x000F)
	if err != nil {
		t.Fatal(err)
	}
	update := func(id, mask uint32, epoch uint64, primary string) {
		t.Helper()
		if err := table.Update(Entry{Hashmask: Hashmask{mask, id}, Epoch: epoch, Primary: primary}); err != nil {
			t.Fatal(err)
		}
	}
	primary := func(hash uint32) string { return table.entries[hash&table.mask].Primary }

	for id := range uint32(16) {
		update(id, 0x000F, 1, fmt.Sprint("n", id))
	}
	update(0x52, 0x00FF, 2, "b")
	if table.Mask() != 0x00FF || len(table.entries) != 256 {
		t.Fatalf("mask %04X, %d entries", table.Mask(), len(table.entries))
	}
	for hash, want := range map[uint32]string{0x52: "b", 0x42: "n2", 0x02: "n2", 0x53: "n3", 0x0152: "b"} {
		if got := primary(hash); got != want {
			t.Errorf("%04X: %q, want %q", hash, got, want)
		}
	}
	// A word from before the split comes late.
	update(0x2, 0x000F, 1, "old")
	if got := primary(0x52); got != "b" {
		t.Errorf("0052 is back at %q", got)
	}
	if got := primary(0x42); got != "old" {
		t.Errorf("0042: %q", got)
	}
}

func TestTableIsItsPlacement(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	c := newCluster(t, 1)
	c.strategy, _ = New(Config{Mask: 0xF})
	load := func(r ring.Range) ring.Load {
		if r.Contains(0x70000000) {
			return ring.Load{Bytes: 1 << 40}
		}
		return ring.Load{Bytes: 1 << 26}
	}
	for range 3 {
		c.add(1)
	}
	p, err := c.strategy.Desired(ring.Input{Members: c.members, Backups: 1, Load: load})
	if err != nil {
		t.Fatal(err)
	}
	table, err := TableOf(p)
	if err != nil {
		t.Fatal(err)
	}
	for range 10000 {
		token := ring.Token(rnd.Uint32())
		row, entry := p.Lookup(token), table.Lookup(token)
		if entry.Primary != row.Primary || entry.Range() != row.Range || entry.Epoch != row.Epoch {
			t.Fatalf("%08x: %+v, want %+v", token, entry, row)
		}
	}
	if p.Len() == 16 {
		t.Error("there was no split")
	}
}

func TestTableRefusesMalformedBuckets(t *testing.T) {
	table, err := NewTable(0xFF)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []Hashmask{{0, 0}, {0xF0, 0}, {0xF, 0x10}, {0xFFFFFFFF, 1}} {
		if err := table.Update(Entry{Hashmask: h}); err == nil {
			t.Errorf("%+v is accepted", h)
		}
	}
	if _, err := NewTable(6); err == nil {
		t.Error("a table of mask 6")
	}
	p, err := ring.NewPlacement([]ring.Row{{Primary: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TableOf(p); err == nil {
		t.Error("the whole circle is no bucket")
	}
}
