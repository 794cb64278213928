package relay

import (
	"slices"
	"testing"
)

func FuzzInvalidations(f *testing.F) {
	f.Add(AppendInvalidations(nil, 7, []Invalidation{{Key: []byte("k")}, {Author: 1 << 40, Key: []byte{}}, {}}))
	f.Add([]byte{1, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		first, items, err := ParseInvalidations(b)
		if err != nil {
			return
		}
		again, same, err := ParseInvalidations(AppendInvalidations(nil, first, items))
		if err != nil || again != first || !slices.EqualFunc(items, same, func(a, b Invalidation) bool {
			return a.Author == b.Author && string(a.Key) == string(b.Key) && (a.Key == nil) == (b.Key == nil)
		}) {
			t.Errorf("%v, %v", same, err)
		}
	})
}
