package store

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// TestExpiredKeysVanish by themselves, with their entries in the index and their
// pieces, and no others do.
func TestExpiredKeysVanish(t *testing.T) {
	rnd := seeded(t)
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	now := s.now()
	const hour = 3_600_000
	stay := int64(0)
	for i := range 2000 {
		value, expiry := "v", int64(0)
		if i%50 == 0 {
			value = fmt.Sprintf("%0*d", 2*pieceSize, i)
		}
		switch rnd.IntN(3) {
		case 0:
			expiry = now + hour + rnd.Int64N(hour)
		case 1:
			expiry = now + 10*hour
			stay++
		default:
			stay++
		}
		s.set(t, fmt.Sprint("k", i), value, expiry)
	}
	s.audit(t)
	s.skew.Store(2 * hour)
	resptest.WaitFor(t, "expired keys vanish", func() bool { return s.Keys() == stay })
	// They are counted a moment after they are gone.
	resptest.WaitFor(t, "expired keys are counted", func() bool { return s.expirer.expired.Load() == 2000-stay })
	s.collectAll(t)
	if a := s.audit(t); a.keys != stay || a.garbage != 0 {
		t.Errorf("%d keys and %d pieces of garbage are left, want %d and none", a.keys, a.garbage, stay)
	}
}

// TestManyExpireAtOnce in little time, though each batch leaves tombstones behind.
func TestManyExpireAtOnce(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	at := s.now() + 3_600_000
	all := 50_000
	if testing.Short() {
		all = 10_000
	}
	for i := 0; i < all; i += 500 {
		keys := make([]string, 500)
		for j := range keys {
			keys[j] = fmt.Sprint("k", i+j)
		}
		s.inUnit(t, func(u *Unit) {
			for _, key := range keys {
				v, err := u.Get([]byte(key))
				if err == nil {
					err = u.PutString([]byte(key), v, nil, at, false)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}, keys...)
	}
	s.skew.Store(2 * 3_600_000)
	resptest.WaitFor(t, "all expired keys vanish", func() bool { return s.Keys() == 0 })
	s.audit(t)
}

// TestExpiryIsSeenAtOnce, long before anything is removed in the background, and a
// read removes what it finds.
func TestExpiryIsSeenAtOnce(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	for i, read := range []func(*Unit, []byte) (Value, error){(*Unit).Get, (*Unit).Peek} {
		for _, value := range []string{"v", fmt.Sprintf("%0*d", 2*pieceSize, i)} {
			s.set(t, "a", value, s.now()+60_000)
			if v, ok := s.get(t, "a"); !ok || v != value {
				t.Error("it has vanished too early")
			}
			s.skew.Add(60_000)
			s.inUnit(t, func(u *Unit) {
				if v, err := read(u, []byte("a")); v.Exists() || err != nil {
					t.Errorf("%v, %v", v, err)
				}
			})
			if n := s.Keys(); n != 0 {
				t.Errorf("%d keys after a read of an expired one", n)
			}
		}
	}
}

// TestWrongIndexEntriesAreRemoved without the key, whatever its own expiry is.
func TestWrongIndexEntriesAreRemoved(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	now := s.now()
	s.set(t, "stays", "v", 0)
	s.set(t, "later", "v", now+3_600_000)
	s.set(t, "now", "v", now+1)
	for _, key := range []string{"stays", "later", "now", "nobody"} {
		for _, at := range []int64{1, now - 1, now - 2} {
			index := layout.AppendExpiryKey(nil, at, PlaceOf(s.token, []byte(key)), []byte(key))
			if err := s.db.Set(index, nil, pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
	}
	resptest.WaitFor(t, "one key expires", func() bool { return s.now() > now+1 })
	if _, _, err := s.expirer.expireDue(s.now(), []byte{layout.KindExpiry}); err != nil {
		t.Fatal(err)
	}
	if a := s.audit(t); a.keys != 2 || a.expires != 1 {
		t.Errorf("%d keys, %d with an expiry", a.keys, a.expires)
	}
}

// TestExpiryLosesNothing that is written at the same moment.
func TestExpiryLosesNothing(t *testing.T) {
	rnd := seeded(t)
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	var all sync.WaitGroup
	for w := range 4 {
		r := rand.New(rand.NewPCG(rnd.Uint64(), 1))
		all.Go(func() {
			key := fmt.Sprint("k", w)
			for i := range 300 {
				s.set(t, key, "x", s.now()+r.Int64N(3))
				if r.IntN(2) == 0 {
					time.Sleep(time.Duration(r.IntN(3_000)) * time.Microsecond)
				}
				value := fmt.Sprint(i)
				s.set(t, key, value, 0)
				if got, _ := s.get(t, key); got != value {
					t.Errorf("%s is %q, want %q", key, got, value)
				}
			}
		})
	}
	stop := make(chan struct{})
	var background sync.WaitGroup
	background.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, _, err := s.expirer.expireDue(s.now(), []byte{layout.KindExpiry}); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	close(stop)
	background.Wait()
	s.audit(t)
}

// TestExpiriesSurviveReopening and are worked off then.
func TestExpiriesSurviveReopening(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, memConfig(fs, FsyncNo))
	for i := range 100 {
		s.set(t, fmt.Sprint("k", i), "v", s.now()+3_600_000)
	}
	s.mustClose(t)
	s = openTest(t, memConfig(fs, FsyncNo))
	defer s.mustClose(t)
	s.audit(t)
	s.skew.Store(2 * 3_600_000)
	resptest.WaitFor(t, "expired keys vanish", func() bool { return s.Keys() == 0 })
	s.audit(t)
}

// TestPeekIsNoUse of a key.
func TestPeekIsNoUse(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	s.set(t, "a", "v", 0)
	s.cache.SetClock(s.cache.Now() + 100)
	idle := func(want int64) {
		t.Helper()
		s.inUnit(t, func(u *Unit) {
			if v, err := u.Peek([]byte("a")); err != nil || string(v.Inline) != "v" {
				t.Errorf("%v, %v", v, err)
			}
			if n := u.IdleSeconds([]byte("a")); n < want || n > want+5 {
				t.Errorf("idle for %d s, want %d", n, want)
			}
		})
	}
	idle(100)
	idle(100)
	s.get(t, "a")
	idle(0)
}

// A store that removes nothing by itself keeps what has expired until a command finds it, or it is told to remove it again.
func TestExpiredKeysStayUntilActiveExpiryIsOn(t *testing.T) {
	on, off := openTest(t, memConfig(vfs.NewMem(), FsyncNo)), openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer on.mustClose(t)
	defer off.mustClose(t)
	off.SetActiveExpiry(false)
	for i := range 3 { // both look for expired keys equally often
		off.set(t, fmt.Sprint("k", i), "v", off.now()+1)
		on.set(t, fmt.Sprint("k", i), "v", on.now()+1)
		resptest.WaitFor(t, "the key to vanish from the other store", func() bool { return on.Keys() == 0 })
	}
	if n := off.Keys(); n != 3 {
		t.Errorf("%d keys are left, want 3", n)
	}
	if _, ok := off.get(t, "k1"); ok || off.Keys() != 2 {
		t.Errorf("an expired key is shown: %t; %d keys are left, want 2", ok, off.Keys())
	}
	off.SetActiveExpiry(true)
	resptest.WaitFor(t, "expired keys vanish", func() bool { return off.Keys() == 0 })
}
