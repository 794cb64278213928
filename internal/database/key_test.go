package database

import (
	"bytes"
	"hash/fnv"
	"testing"
)

// Each pair of database and key has a stored key of its own, with the token of the key.
func FuzzStoredKeysAreDistinct(f *testing.F) {
	f.Add(uint16(0), []byte("a"), uint16(2), []byte("a"))
	f.Add(uint16(0), []byte(mark+"\x00\x02a"), uint16(2), []byte("a"))
	f.Add(uint16(0), []byte(mark+"\x00\x00"), uint16(0), []byte(""))
	f.Add(uint16(0), []byte(mark+"\xff\x02a"), uint16(3), []byte(mark))
	token := func(key []byte) uint64 {
		h := fnv.New64a()
		_, _ = h.Write(key)
		return h.Sum64()
	}
	f.Fuzz(func(t *testing.T, n uint16, key []byte, m uint16, other []byte) {
		n, m = n%Limit, m%Limit
		a, b := AppendKey(nil, int(n), key), AppendKey(nil, int(m), other)
		if same := n == m && bytes.Equal(key, other); same != bytes.Equal(a, b) {
			t.Errorf("%d %q is %q, %d %q is %q", n, key, a, m, other, b)
		}
		if number, name := Split(a); number != int(n) || !bytes.Equal(name, key) {
			t.Errorf("%q of %d is stored as %q, which is %q of %d", key, n, a, name, number)
		}
		if n == 0 && !HasMark(key) && !bytes.Equal(a, key) {
			t.Errorf("%q is stored as %q in database 0", key, a)
		}
		if got := TokenFunc(token)(a); got != token(key) {
			t.Errorf("%q of %d has another token than the key", key, n)
		}
	})
}
