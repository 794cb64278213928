package counts

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// TestActiveBytesAreThoseOfActiveSlices compares the running sums with sums over all slices, while
// counts and the set of passive slices change.
func TestActiveBytesAreThoseOfActiveSlices(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	c := new(Counts)
	passive := func(slice uint16) bool { return false }
	check := func() {
		t.Helper()
		want := make([]int64, 4)
		for slice := range 1 << 16 {
			if !passive(uint16(slice)) {
				want[0] += c.Of(uint16(slice)).Bytes
				for n := uint16(1); n < 4; n++ {
					l := c.InSlice(int(n), uint16(slice)).Bytes
					want[n] += l
				}
			}
		}
		all := want[0]
		want[0] -= want[1] + want[2] + want[3]
		if got := c.ActiveBytes(); got != all {
			t.Fatalf("%d active bytes, want %d", got, all)
		}
		for n, bytes := range want {
			if got := c.ActiveBytesOf(n); got != bytes {
				t.Fatalf("%d active bytes of database %d, want %d", got, n, bytes)
			}
		}
	}
	for range 20 {
		for range 50 {
			c.Add(Delta{Slice: uint16(rnd.Uint32()), Database: uint16(rnd.IntN(4)), Keys: 1, Bytes: rnd.Int64N(100)})
		}
		part := Part{Database: uint16(rnd.IntN(4)), Slice: uint16(rnd.Uint32())}
		gone := map[Part]Load{{Slice: part.Slice}: {Bytes: 7}}
		if part.Database != 0 {
			gone[part] = Load{Bytes: 3}
		}
		c.Take(gone, 1)
		check()
		c.Recount()
		check()
		first, last := uint16(rnd.Uint32()), uint16(rnd.Uint32())
		if first > last {
			first, last = last, first
		}
		sts := []layout.Interval{{First: layout.Place(first) << 48, Last: layout.Place(last)<<48 | (1<<48 - 1)}}
		passive = func(slice uint16) bool { return slice >= first && slice <= last }
		if rnd.IntN(4) == 0 {
			sts, passive = nil, func(uint16) bool { return false }
		}
		c.SetPassive(sts)
		check()
	}
	c.Reset()
	check()
}

// TestCutSliceBelongsToRangeOfItsMiddle has a range end within a slice.
func TestCutSliceBelongsToRangeOfItsMiddle(t *testing.T) {
	for _, test := range []struct {
		last layout.Place
		want []uint16
	}{
		{5<<48 - 1, []uint16{4}},
		{5<<48 | 1<<46, []uint16{4}},
		{5<<48 | 3<<46, []uint16{4, 5}},
	} {
		c := new(Counts)
		c.SetPassive([]layout.Interval{{First: 4 << 48, Last: test.last}})
		var got []uint16
		for slice := range uint16(10) {
			if c.passive.isPassive(slice) {
				got = append(got, slice)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("up to %x: %v, want %v", test.last, got, test.want)
		}
	}
}
