package store

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/keyversion"
)

func (s *Store) version(t *testing.T, key string) (v Version) {
	t.Helper()
	s.inUnit(t, func(u *Unit) { v = u.Version([]byte(key)) }, key)
	return v
}

// Whatever changes a key, or what belongs to it, changes its version, and nothing else does.
func TestVersionChangesWithTheKey(t *testing.T) {
	cfg := testConfig("data")
	cfg.FS = vfs.NewMem()
	s := openTest(t, cfg)
	defer s.Close()
	get := func(u *Unit, key string) Value {
		v, err := u.Get([]byte(key))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	long := bytes.Repeat([]byte("x"), 300<<10)
	s.set(t, "a", "before anybody looks", 0)
	for _, step := range []struct {
		name    string
		changes bool
		do      func()
	}{
		{"nothing", false, func() {}},
		{"read", false, func() { s.get(t, "a") }},
		{"another key", false, func() { s.set(t, "b", "1", 0) }},
		{"set", true, func() { s.set(t, "a", "1", 0) }},
		{"set to the same", true, func() { s.set(t, "a", "1", 0) }},
		{"expiry", true, func() { s.inUnit(t, func(u *Unit) { u.SetExpiry([]byte("a"), get(u, "a"), 1<<50) }, "a") }},
		{"delete", true, func() { s.inUnit(t, func(u *Unit) { u.Delete([]byte("a"), get(u, "a")) }, "a") }},
		{"delete nothing", false, func() { s.inUnit(t, func(u *Unit) { u.Delete([]byte("a"), get(u, "a")) }, "a") }},
		{"long string", true, func() { s.set(t, "a", string(long), 0) }},
		{"piece of it", true, func() {
			s.inUnit(t, func(u *Unit) {
				if _, err := u.WriteRange([]byte("a"), get(u, "a"), 100<<10, []byte("y")); err != nil {
					t.Fatal(err)
				}
			}, "a")
		}},
		{"collection", true, func() {
			s.inUnit(t, func(u *Unit) { splitSet(t, u, "a", map[string]string{"x": "1", "y": "2"}) }, "a")
		}},
		{"element", true, func() {
			s.inUnit(t, func(u *Unit) {
				v := get(u, "a")
				u.SetElement([]byte("a"), &v, []byte("x"), []byte("3"))
				u.PutHead([]byte("a"), &v, 2, 2, nil)
			}, "a")
		}},
		{"range of elements", true, func() {
			s.inUnit(t, func(u *Unit) {
				v := get(u, "a")
				u.RemoveElements([]byte("a"), &v, []byte("x"), []byte("y"))
				u.PutHead([]byte("a"), &v, 1, 1, nil)
			}, "a")
		}},
		{"time", true, func() {
			s.set(t, "a", "1", 1000)
			if _, err := s.expirer.expireKeys(2000, []expiring{{place: PlaceOf(s.token, []byte("a")), key: []byte("a")}}, nil); err != nil {
				t.Fatal(err)
			}
		}},
		{"clear", true, func() {
			if err := s.Clear(nil, nil); err != nil {
				t.Fatal(err)
			}
		}},
		{"clear a range", true, func() {
			if err := s.ClearRanges(nil, nil, ring.Range{Start: testToken([]byte("a")), End: testToken([]byte("a")) + 1}); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		before := s.version(t, "a")
		step.do()
		if changed := s.version(t, "a") != before; changed != step.changes {
			t.Errorf("%s: changed %v", step.name, changed)
		}
	}
	if a, b := s.version(t, "a").Parts(); keyversion.FromParts(a, b) != s.version(t, "a") {
		t.Error("a version is more than its parts")
	}
}

// Who makes the counters while writes are under way misses none that comes after its look.
func TestVersionMissesNoWrite(t *testing.T) {
	for range 20 {
		cfg := testConfig("data")
		cfg.FS = vfs.NewMem()
		s := openTest(t, cfg)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 50 {
				s.set(t, "a", string(rune('0'+i)), 0)
			}
		}()
		for range 50 {
			var value string
			var v Version
			look := func(u *Unit) {
				got, err := u.Get([]byte("a"))
				if err != nil {
					t.Error(err)
				}
				value, v = string(got.Inline), u.Version([]byte("a"))
			}
			s.inUnit(t, look, "a")
			before, then := value, v
			s.inUnit(t, look, "a")
			if v == then && value != before {
				t.Errorf("%q became %q in one version", before, value)
			}
		}
		<-done
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
