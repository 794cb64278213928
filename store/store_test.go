package store

import (
	"bytes"
	"hash/fnv"
	"math/bits"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func testToken(key []byte) ring.Token {
	h := fnv.New64a()
	_, _ = h.Write(key)
	return ring.Token(bits.Reverse32(uint32(h.Sum64())))
}

func testConfig(dir string) Config {
	return Config{Dir: dir, Strategy: "buckets", Hash: "native", Token: testToken, Cache: 4 << 20}
}

func openTest(t *testing.T, cfg Config) *Store {
	t.Helper()
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inUnit runs f in a unit that holds the latches of keys, and waits until its
// changes are durable.
func (s *Store) inUnit(t *testing.T, f func(u *Unit), keys ...string) {
	t.Helper()
	u := s.NewUnit()
	var places []Place
	for _, k := range keys {
		places = append(places, u.Place([]byte(k)))
	}
	u.Begin(s.now(), places)
	f(u)
	var done Signal
	wait, err := u.Commit(&done)
	if err == nil && wait {
		err = done.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *Store) set(t *testing.T, key, value string, expiry int64) {
	t.Helper()
	s.inUnit(t, func(u *Unit) {
		v, err := u.Get([]byte(key))
		if err != nil {
			t.Fatal(err)
		}
		if err := u.PutString([]byte(key), v, []byte(value), expiry, false); err != nil {
			t.Fatal(err)
		}
	}, key)
}

// put sets a key, and returns once that is acknowledged.
func (s *Store) put(key, value string) error {
	u := s.NewUnit()
	u.Begin(s.now(), []Place{u.Place([]byte(key))})
	v, err := u.Get([]byte(key))
	if err == nil {
		err = u.PutString([]byte(key), v, []byte(value), 0, false)
	}
	return u.end(err)
}

// end commits the unit, and returns once that is acknowledged; after an error it aborts the unit, and returns the error.
func (u *Unit) end(err error) error {
	if err != nil {
		u.Abort()
		return err
	}
	var done Signal
	wait, err := u.Commit(&done)
	if err == nil && wait {
		err = done.Wait()
	}
	return err
}

func (s *Store) get(t *testing.T, key string) (value string, ok bool) {
	t.Helper()
	s.inUnit(t, func(u *Unit) {
		v, err := u.Get([]byte(key))
		if err != nil {
			t.Fatal(err)
		}
		b, err := u.Bytes([]byte(key), v)
		if err != nil {
			t.Fatal(err)
		}
		value, ok = string(b), v.Exists()
	})
	return value, ok
}

func TestValuesSurviveReopening(t *testing.T) {
	dir := t.TempDir()
	long := string(bytes.Repeat([]byte("0123456789abcdef"), 20_000))
	s := openTest(t, testConfig(dir))
	s.set(t, "a", "1", 0)
	s.set(t, "long", long, 0)
	s.set(t, "gone", "x", s.now()-1)
	if v, ok := s.get(t, "gone"); ok {
		t.Fatalf("expired key has value %q", v)
	}
	for range 2 {
		if v, _ := s.get(t, "a"); v != "1" {
			t.Fatalf("a = %q", v)
		}
		if v, _ := s.get(t, "long"); v != long {
			t.Fatalf("long value of %d bytes came back as %d bytes", len(long), len(v))
		}
		if n := s.Keys(); n != 2 {
			t.Fatalf("%d keys, want 2", n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openTest(t, testConfig(dir))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// oneGoroutine skips a test under -short, which the race phase uses: the test runs in one
// goroutine, so that the race detector has nothing to see in it.
func oneGoroutine(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine: nothing to see for the race detector")
	}
}
