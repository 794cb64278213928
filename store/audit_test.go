package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/cleaner"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// An audit is what a store holds, found by reading all of it.
type audit struct {
	keys, bytes, expires, timed int64
	slices                      map[uint16][4]int64 // keys, bytes, keys with an expiry, hashes with fields that expire
	values                      map[string]layout.Header
	garbage                     int // generations that are named as garbage
}

// audit reads the whole store, which must be at rest, and checks that its counts
// and indexes agree with the keys: no expiry and no sub entry without its key, but
// for what is named as garbage, and the other way round.
func (s *Store) audit(t *testing.T) audit {
	t.Helper()
	a := audit{slices: map[uint16][4]int64{}, values: map[string]layout.Header{}}
	gens := map[string]bool{}    // key and generation of headers and of garbage
	pieces := map[string]bool{}  // of sub entries
	indexed := map[string]bool{} // key and time in the index of expiry times
	if err := s.cleaner.Clean(0, cleaner.LastSlice); err != nil {
		t.Fatal(err)
	}
	iter, err := s.db.NewIter(&pebble.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = iter.Close() }()
	for iter.First(); iter.Valid(); iter.Next() {
		k := iter.Key()
		switch k[0] {
		case layout.KindData:
			p, key, sub, err := layout.SplitPlacedKey(k[1:])
			if err != nil {
				t.Fatal(err)
			}
			if p != PlaceOf(s.token, key) {
				t.Errorf("%q lies at %x", key, p)
			}
			if len(sub) > 0 {
				pieces[name(key, binary.BigEndian.Uint64(sub))] = true
				continue
			}
			var h layout.Header
			if err := h.Parse(append([]byte(nil), iter.Value()...)); err != nil {
				t.Fatalf("%q: %v", key, err)
			}
			a.add(p, string(key), h)
			if h.Gen != 0 {
				gens[name(key, h.Gen)] = true
			}
		case layout.KindExpiry:
			at, _, key, err := layout.SplitExpiryKey(k)
			if err != nil {
				t.Fatal(err)
			}
			indexed[name(key, uint64(at))] = true
		case layout.KindGarbage:
			_, key, gen, err := layout.SplitPlacedKey(k[1:])
			if err != nil {
				t.Fatal(err)
			}
			n := name(key, binary.BigEndian.Uint64(gen))
			if gens[n] {
				t.Errorf("a live value is named as garbage: %s", n)
			}
			gens[n] = true
			a.garbage++
		}
	}
	for n := range pieces {
		if !gens[n] {
			t.Errorf("entries of nothing: %s", n)
		}
	}
	for key, h := range a.values {
		for _, at := range []int64{h.Expiry, h.FieldExpiry} {
			if n := name([]byte(key), uint64(at)); at != 0 && !indexed[n] {
				t.Errorf("not in the index of expiry times: %s", n)
			}
		}
		delete(indexed, name([]byte(key), uint64(h.Expiry)))
		delete(indexed, name([]byte(key), uint64(h.FieldExpiry)))
	}
	for n := range indexed {
		t.Errorf("in the index of expiry times, but nowhere else: %s", n)
	}
	a.compare(t, s)
	return a
}

func name(key []byte, n uint64) string { return fmt.Sprintf("%q %d", key, n) }

func (a *audit) add(p Place, key string, h layout.Header) {
	a.values[key] = h
	size := int64(len(key)) + h.Size()
	a.keys++
	a.bytes += size
	slice := a.slices[layout.SliceOf(p)]
	slice[0]++
	slice[1] += size
	if h.Expiry != 0 {
		a.expires++
		slice[2]++
	}
	if h.HasTimedFields() {
		a.timed++
		slice[3]++
	}
	a.slices[layout.SliceOf(p)] = slice
}

// compare checks the store's counts.
func (a *audit) compare(t *testing.T, s *Store) {
	t.Helper()
	c := &s.counts
	if c.Total().Keys != a.keys || c.Total().Bytes != a.bytes || c.Total().Expires != a.expires || c.Total().TimedHashes != a.timed {
		t.Errorf("counted %d keys, %d bytes, %d with expiry, %d with fields that expire; there are %d, %d, %d, %d",
			c.Total().Keys, c.Total().Bytes, c.Total().Expires, c.Total().TimedHashes, a.keys, a.bytes, a.expires, a.timed)
	}
	for i := range 1 << 16 {
		got := [4]int64{c.Of(uint16(i)).Keys, c.Of(uint16(i)).Bytes, c.Of(uint16(i)).Expires, c.Of(uint16(i)).TimedHashes}
		if got != a.slices[uint16(i)] {
			t.Errorf("slice %d: counted keys, bytes, expiries, hashes with fields that expire %d, there are %d", i, got, a.slices[uint16(i)])
		}
	}
	if n := s.Keys(); n != a.keys {
		t.Errorf("DBSIZE is %d, there are %d keys", n, a.keys)
	}
}

// A churner runs random units on the keys of one prefix.
type churner struct {
	*rand.Rand
	s      *Store
	prefix string
	keys   int
	// oneTag puts all keys on one token.
	oneTag bool
}

func (c *churner) key() string {
	if c.oneTag {
		return fmt.Sprintf("{%s}%d", c.prefix, c.IntN(c.keys))
	}
	return fmt.Sprintf("%s%d", c.prefix, c.IntN(c.keys))
}

// value is most often short, sometimes in pieces.
func (c *churner) value() []byte {
	n := c.IntN(100)
	if c.IntN(12) == 0 {
		n = pieceSize - 3 + c.IntN(4*pieceSize)
	}
	return []byte(strings.Repeat(c.prefix, n/len(c.prefix)+1)[:n])
}

// run runs one unit of several operations and waits until it is durable.
func (c *churner) run(t *testing.T) {
	keys := make([]string, 1+c.IntN(6))
	places := make([]Place, len(keys))
	u := c.s.NewUnit()
	for i := range keys {
		keys[i] = c.key()
		places[i] = u.Place([]byte(keys[i]))
	}
	u.Begin(c.s.now(), places)
	var err error
	for range 1 + c.IntN(8) {
		if err = c.one(u, []byte(keys[c.IntN(len(keys))]), []byte(keys[c.IntN(len(keys))])); err != nil {
			break
		}
	}
	if err == nil && c.IntN(10) > 0 {
		var done Signal
		var wait bool
		if wait, err = u.Commit(&done); err == nil && wait {
			err = done.Wait()
		}
	} else {
		u.Abort()
	}
	if err != nil {
		t.Error(err)
	}
}

func (c *churner) one(u *Unit, a, b []byte) error {
	v, err := u.Get(a)
	if err != nil {
		return err
	}
	to, err := u.Get(b)
	if err != nil {
		return err
	}
	expiry := int64(0)
	if c.IntN(3) == 0 {
		expiry = u.now + 3_600_000 + c.Int64N(1000)
	}
	switch n := c.IntN(11); n {
	case 0, 1, 2:
		return u.PutString(a, v, c.value(), expiry, c.IntN(2) == 0)
	case 3:
		u.Delete(a, v)
	case 4:
		u.SetExpiry(a, v, expiry)
	case 5, 6:
		if v.Type == Hash {
			break
		}
		if n == 6 {
			_, err = u.Bytes(a, v)
			break
		}
		_, err = u.WriteRange(a, v, c.Int64N(2*pieceSize), c.value())
	case 7:
		if v.Exists() && string(a) != string(b) {
			err = u.Copy(a, v, b, to)
		}
	case 8:
		if v.Exists() && string(a) != string(b) {
			err = u.Rename(a, v, b, to)
		}
	case 9, 10:
		// Bytes that no collection reads. Its fields expire late, in the form for fields that do, or not at all.
		first := []int64{u.now + 3_600_000 + c.Int64N(2), NeverExpires, 0}[c.IntN(3)]
		if v.Type != Hash {
			u.Delete(a, v)
			if v, err = u.Get(a); err != nil {
				return err
			}
		}
		u.PutWholeTimed(a, &v, Hash, []byte("some fields"), first)
	}
	return err
}

// seeded returns a generator whose seed the test prints.
func seeded(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}
