package store

import (
	"bytes"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/identity"
)

// A JSON value is kept as a string is, short or long, and keeps its type through every change, copy and restart.
func TestValuesOfModulesAreKeptAsBytes(t *testing.T) {
	cfg := testConfig(t.TempDir())
	s := openTest(t, cfg)
	if got := s.Identity().Format; got != identity.Version {
		t.Fatalf("format %d at first", got)
	}
	long := bytes.Repeat([]byte("0123456789abcdef"), 3*pieceSize/16+5)
	do := func(keys []string, change func(u *Unit)) {
		t.Helper()
		u := s.NewUnit()
		var places []Place
		for _, k := range keys {
			places = append(places, u.Place([]byte(k)))
		}
		u.Begin(s.now(), places)
		change(u)
		var done Signal
		wait, err := u.Commit(&done)
		if err == nil && wait {
			err = done.Wait()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	get := func(u *Unit, key string) Value {
		t.Helper()
		v, err := u.Get([]byte(key))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	check := func(key string, typ Type, want []byte, expiry int64) {
		t.Helper()
		u := s.NewUnit()
		u.Begin(s.now(), nil)
		defer u.Abort()
		v := get(u, key)
		got, err := u.Bytes([]byte(key), v)
		if err != nil || v.Type != typ || !bytes.Equal(got, want) || v.Expiry != expiry || v.Size != int64(len(want)) {
			t.Errorf("%s: %v with %d bytes, expiry %d, %v; want %v with %d bytes", key, v.Type, len(got), v.Expiry, err, typ, len(want))
		}
	}
	at := s.now() + 1_000_000
	do([]string{"short", "long"}, func(u *Unit) {
		for key, value := range map[string][]byte{"short": []byte(`{"a":1}`), "long": long} {
			if err := u.PutBytes([]byte(key), get(u, key), JSON, value, at, false); err != nil {
				t.Fatal(err)
			}
		}
	})
	if got := s.Identity().Format; got != identity.ObjectVersion {
		t.Errorf("format %d with JSON values", got)
	}
	check("short", JSON, []byte(`{"a":1}`), at)
	check("long", JSON, long, at)
	do([]string{"short", "long", "copy"}, func(u *Unit) {
		if err := u.Copy([]byte("long"), get(u, "long"), []byte("copy"), get(u, "copy")); err != nil {
			t.Fatal(err)
		}
		u.SetExpiry([]byte("long"), get(u, "long"), 0)
		if _, err := u.WriteRange([]byte("short"), get(u, "short"), 5, []byte("2")); err != nil {
			t.Fatal(err)
		}
		if _, err := u.WriteRange([]byte("copy"), get(u, "copy"), pieceSize, []byte("x")); err != nil {
			t.Fatal(err)
		}
	})
	copied := bytes.Clone(long)
	copied[pieceSize] = 'x'
	for range 2 {
		check("short", JSON, []byte(`{"a":2}`), at)
		check("long", JSON, long, 0)
		check("copy", JSON, copied, at)
		if got := s.Stats().Keys; got != 3 {
			t.Errorf("%d keys", got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openTest(t, cfg)
	}
	if got := s.Identity(); got.Format != identity.ObjectVersion || !got.HasFieldTimes() {
		t.Errorf("%+v after a restart", got)
	}
	do([]string{"long"}, func(u *Unit) {
		if err := u.PutString([]byte("long"), get(u, "long"), []byte("text"), 0, false); err != nil {
			t.Fatal(err)
		}
	})
	check("long", String, []byte("text"), 0)
}
