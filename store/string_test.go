package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/store/internal/cleaner"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A stringModel is a store and what its strings ought to be.
type stringModel struct {
	t     *testing.T
	rnd   *rand.Rand
	s     *Store
	want  map[string][]byte // nil: no such key
	names []string
	step  string
}

// Random writes and reads of strings around the piece borders, several in a unit,
// must agree with plain byte slices, at once and after the store was opened again.
func TestStringsAgreeWithByteSlices(t *testing.T) {
	randomtest.Draw(t, 4)
	oneGoroutine(t)
	for run := range rounds(4) {
		seed := rand.Uint64()
		t.Logf("run %d: seed %d", run, seed)
		cfg := testConfig(t.TempDir())
		if run%2 == 1 {
			cfg.Cache = 0
		}
		m := &stringModel{
			t: t, rnd: rand.New(rand.NewPCG(seed, 2)), s: openTest(t, cfg),
			want: map[string][]byte{}, names: []string{"a", "b", "{a}c", "d"},
		}
		for range 4 {
			for range 40 {
				m.unit()
			}
			m.check()
			if err := m.s.Close(); err != nil {
				t.Fatal(err)
			}
			m.s = openTest(t, cfg)
			m.check()
		}
		if err := m.s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// unit works on the keys several times in one unit.
func (m *stringModel) unit() {
	m.s.inUnit(m.t, func(u *Unit) {
		for range 1 + m.rnd.IntN(12) {
			m.change(u, m.names[m.rnd.IntN(len(m.names))])
			m.read(u, m.names[m.rnd.IntN(len(m.names))])
		}
	}, m.names...)
}

// size is one near a border of pieces, or a small one.
func (m *stringModel) size() int64 {
	if m.rnd.IntN(3) == 0 {
		return m.rnd.Int64N(40)
	}
	return max(0, m.rnd.Int64N(4)*pieceSize+m.rnd.Int64N(5)-2)
}

func (m *stringModel) bytes(n int64) []byte {
	b := make([]byte, n)
	if m.rnd.IntN(4) > 0 { // else zeros, which are not stored
		for i := range b {
			b[i] = byte(m.rnd.Uint32())
		}
	}
	return b
}

func (m *stringModel) change(u *Unit, key string) {
	k := []byte(key)
	v := m.get(u, key)
	old := m.want[key]
	var err error
	switch op := m.rnd.IntN(14); {
	case op < 3:
		value := m.bytes(m.size())
		m.step = fmt.Sprintf("SET %s %d bytes", key, len(value))
		err = u.PutString(k, v, value, 0, false)
		m.want[key] = value
	case op < 6:
		m.writeRange(u, key, v, v.Size, m.bytes(1+m.size()))
	case op < 9:
		m.writeRange(u, key, v, m.size(), m.bytes(1+m.size()))
	case op < 11: // one byte, as SETBIT
		m.writeRange(u, key, v, m.size(), m.bytes(1))
	case op < 12:
		m.step = "DEL " + key
		u.Delete(k, v)
		m.want[key] = nil
	case op < 13:
		m.move(u, key, v)
	default:
		size := m.size()
		value := m.bytes(size)
		m.step = fmt.Sprintf("build %s %d bytes", key, size)
		err = u.BuildString(k, v, size, 0, true, func(off int64, part []byte) error {
			copy(part, value[off:])
			return nil
		})
		m.want[key] = value
	}
	if err != nil {
		m.t.Fatalf("%s (was %d bytes): %v", m.step, len(old), err)
	}
}

func (m *stringModel) writeRange(u *Unit, key string, v Value, off int64, data []byte) {
	m.step = fmt.Sprintf("write %d bytes at %d of %s", len(data), off, key)
	size, err := u.WriteRange([]byte(key), v, off, data)
	if err != nil {
		m.t.Fatalf("%s: %v", m.step, err)
	}
	old := m.want[key]
	value := make([]byte, max(int64(len(old)), off+int64(len(data))))
	copy(value, old)
	copy(value[off:], data)
	m.want[key] = value
	if size != int64(len(value)) {
		m.t.Fatalf("%s: size %d, want %d", m.step, size, len(value))
	}
}

// move copies or renames key to another one.
func (m *stringModel) move(u *Unit, key string, v Value) {
	to := m.names[m.rnd.IntN(len(m.names))]
	if to == key || !v.Exists() {
		return
	}
	m.step = "move " + key + " to " + to
	var err error
	if m.rnd.IntN(2) == 0 {
		err = u.Copy([]byte(key), v, []byte(to), m.get(u, to))
		m.want[to] = m.want[key]
	} else {
		err = u.Rename([]byte(key), v, []byte(to), m.get(u, to))
		m.want[to], m.want[key] = m.want[key], nil
	}
	if err != nil {
		m.t.Fatalf("%s: %v", m.step, err)
	}
}

func (m *stringModel) get(u *Unit, key string) Value {
	m.t.Helper()
	v, err := u.Get([]byte(key))
	if err != nil {
		m.t.Fatalf("after %s: read %s: %v", m.step, key, err)
	}
	want := m.want[key]
	if v.Exists() != (want != nil) || v.Size != int64(len(want)) || v.Whole() != (len(want) <= pieceSize) {
		m.t.Fatalf("after %s: %s has %d bytes (exists %v, whole %v), want %d", m.step, key, v.Size, v.Exists(), v.Whole(), len(want))
	}
	return v
}

// read compares a random range of a key.
func (m *stringModel) read(u *Unit, key string) {
	m.t.Helper()
	v := m.get(u, key)
	want := m.want[key]
	off := min(m.size(), v.Size)
	n := min(m.size(), v.Size-off)
	got, err := u.ReadRange([]byte(key), v, off, n, []byte("<"))
	if err != nil {
		m.t.Fatalf("after %s: read %s: %v", m.step, key, err)
	}
	if !bytes.Equal(got[1:], want[off:off+n]) {
		m.t.Fatalf("after %s: bytes %d to %d of %s are wrong", m.step, off, off+n, key)
	}
}

// check compares everything, with latches and without, and what is counted.
func (m *stringModel) check() {
	m.t.Helper()
	all := func(u *Unit) {
		for _, key := range m.names {
			v := m.get(u, key)
			if got, err := u.Bytes([]byte(key), v); err != nil || !bytes.Equal(got, m.want[key]) {
				m.t.Fatalf("after %s: %s is wrong (%v)", m.step, key, err)
			}
		}
	}
	m.s.inUnit(m.t, all)
	m.s.inUnit(m.t, all, m.names...)
	keys := int64(0)
	for _, value := range m.want {
		if value != nil {
			keys++
		}
	}
	if got := m.s.Keys(); got != keys {
		m.t.Fatalf("after %s: %d keys counted, want %d", m.step, got, keys)
	}
}

// What a replaced or deleted long string consisted of is removed; nothing else is.
func TestPiecesOfReplacedStringsAreCollected(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	long := string(bytes.Repeat([]byte("x"), 3*pieceSize))
	s.set(t, "kept", long, 0)
	for range 3 {
		s.set(t, "replaced", long, 0)
	}
	s.set(t, "replaced", "short", 0)
	for s.housekeeper.garbage.Swap(0) > 0 {
		if _, err := s.housekeeper.collectGarbage(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.cleaner.Clean(0, cleaner.LastSlice); err != nil {
		t.Fatal(err)
	}
	iter, err := s.db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	data := 0
	for iter.First(); iter.Valid(); iter.Next() {
		switch iter.Key()[0] {
		case layout.KindData:
			data++
		case layout.KindGarbage:
			t.Errorf("garbage is left: %x", iter.Key())
		}
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	if data != 2+3 {
		t.Errorf("%d entries, want two headers and three pieces", data)
	}
	if got, _ := s.get(t, "kept"); got != long {
		t.Error("the other string has suffered")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A reader without latches sees a long string as of one moment, however it is being
// changed.
func TestReadersSeeLongStringsAsOfOneMoment(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	const size = 3*pieceSize + 100
	s.set(t, "k", string(make([]byte, size)), 0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		u := s.NewUnit()
		key := []byte("k")
		for i := range 400 {
			u.Begin(s.now(), []Place{u.Place(key)})
			v, err := u.Get(key)
			if err != nil {
				t.Error(err)
			}
			value := bytes.Repeat([]byte{byte(i)}, size)
			if i%3 == 0 {
				err = u.PutString(key, v, value, 0, false)
			} else {
				_, err = u.WriteRange(key, v, 0, value)
			}
			if err != nil {
				t.Error(err)
			}
			if _, err := u.Commit(nil); err != nil {
				t.Error(err)
			}
		}
	}()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		value, _ := s.get(t, "k")
		if len(value) != size || value != string(bytes.Repeat([]byte{value[0]}, size)) {
			t.Fatalf("%d bytes, not all of them %d", len(value), value[0])
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A unit that has failed changes nothing, whatever its other commands did.
func TestFailedUnitChangesNothing(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	s.set(t, "a", "before", 0)
	long := bytes.Repeat([]byte("x"), 2*pieceSize)
	s.set(t, "long", string(long), 0)
	failure := errors.New("failure of a test")
	u := s.NewUnit()
	u.Begin(s.now(), []Place{u.Place([]byte("a")), u.Place([]byte("long"))})
	for _, key := range []string{"a", "long"} {
		v, err := u.Get([]byte(key))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.WriteRange([]byte(key), v, 3, []byte("after")); err != nil {
			t.Fatal(err)
		}
	}
	u.Fail(failure)
	if err := u.Flush(); !errors.Is(err, failure) {
		t.Errorf("Flush: %v", err)
	}
	if _, err := u.Commit(nil); !errors.Is(err, failure) {
		t.Errorf("Commit: %v", err)
	}
	if got, _ := s.get(t, "a"); got != "before" {
		t.Errorf("a = %q", got)
	}
	if got, _ := s.get(t, "long"); got != string(long) {
		t.Error("the long string has changed")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A write larger than a unit keeps is applied early, and is right all the same.
func TestLargeOverwriteOfLongString(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	s.set(t, "k", string(bytes.Repeat([]byte("a"), 3*pieceSize)), 0)
	data := bytes.Repeat([]byte("0123456789abcde"), (maxChangedPieces+3)*pieceSize/15)
	want := append(bytes.Repeat([]byte("a"), pieceSize+5), data...)
	want = append(want, "the end"...)
	s.inUnit(t, func(u *Unit) {
		key := []byte("k")
		for _, w := range []struct {
			off  int64
			data []byte
		}{{pieceSize + 7, []byte("will not stay")}, {pieceSize + 5, data}, {pieceSize + 5 + int64(len(data)), []byte("the end")}} {
			v, err := u.Get(key)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := u.WriteRange(key, v, w.off, w.data); err != nil {
				t.Fatal(err)
			}
		}
	}, "k")
	if got, _ := s.get(t, "k"); got != string(want) {
		t.Errorf("%d bytes, want %d, or others", len(got), len(want))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// However often a unit changes a key, its header is written once, as it is at the end.
func TestHeaderIsWrittenOncePerUnit(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.Close()
	s.set(t, "gone", "x", 0)
	put := func(u *Unit, key, value string) {
		t.Helper()
		v, err := u.Get([]byte(key))
		if err == nil {
			err = u.PutString([]byte(key), v, []byte(value), 0, false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	remove := func(u *Unit, key string) {
		v, _ := u.Get([]byte(key))
		u.Delete([]byte(key), v)
	}
	keys := []string{"a", "back", "gone", "never"}
	s.inUnit(t, func(u *Unit) {
		for i := range 40 {
			put(u, "a", fmt.Sprint(i))
		}
		put(u, "back", "0")
		remove(u, "back")
		put(u, "back", "1")
		put(u, "gone", "y")
		remove(u, "gone")
		put(u, "never", "0")
		remove(u, "never")
		before := u.batch.Count()
		dirty := u.writeHeaders()
		defer func() { _ = dirty.Close() }()
		if n := u.batch.Count() - before + dirty.Count(); n != uint32(len(keys)) {
			t.Errorf("%d headers of %d keys", n, len(keys))
		}
	}, keys...)
	s.inUnit(t, func(u *Unit) {
		for i, want := range []string{"39", "1", "", ""} {
			v, err := u.Get([]byte(keys[i]))
			if err != nil || v.Exists() != (want != "") || string(v.Inline) != want {
				t.Errorf("%s is %q, %v", keys[i], v.Inline, err)
			}
		}
	})
}
