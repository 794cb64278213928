package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
)

// sameLatchApart returns two keys of one latch, each with a range of its own that holds it.
func sameLatchApart(t *testing.T) (keys [2]string, ranges [2]ring.Range) {
	t.Helper()
	ranges = [2]ring.Range{{Start: 0, End: 1 << 31}, {Start: 1 << 31, End: 0}}
	place := func(key string) Place { return PlaceOf(testToken, []byte(key)) }
	for i := 0; keys[0] == "" || keys[1] == ""; i++ {
		key := fmt.Sprint("key", i)
		switch {
		case keys[0] == "":
			if ranges[0].Contains(place(key).Token()) {
				keys[0] = key
			}
		case ranges[1].Contains(place(key).Token()) && latch.Same(place(keys[0]), place(key)):
			keys[1] = key
		}
	}
	return keys, ranges
}

func applied(t *testing.T, rc *Receiver, o *ops.Op) {
	t.Helper()
	w := ops.NewWriter(0, 0)
	w.Add(o)
	if _, err := rc.Apply(w.Buf, nil); err != nil {
		t.Fatal(err)
	}
}

func put(key, value string) *ops.Op {
	return &ops.Op{Kind: ops.Put, Key: []byte(key), A: append([]byte{1, 0}, value...)}
}

// A receiver applies what another store changes while a script holds the latches of its keys.
func TestReceiverAppliesWhileUnitHoldsLatches(t *testing.T) {
	keys, ranges := sameLatchApart(t)
	for name, hold := range map[string]func(u *Unit){
		"a latch":     func(u *Unit) { u.Begin(1, []Place{u.Place([]byte(keys[0]))}) },
		"all latches": func(u *Unit) { u.Begin(1, nil); u.LatchAll() },
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
			defer s.mustClose(t)
			rc := s.NewReceiver(ranges[1])
			defer rc.Close()
			script := s.NewUnit()
			script.ExpectLong()
			hold(script)
			v, err := script.Get([]byte(keys[0]))
			if err != nil {
				t.Fatal(err)
			}
			if err := script.PutString([]byte(keys[0]), v, []byte("script"), 0, false); err != nil {
				t.Fatal(err)
			}
			applied(t, rc, put(keys[1], "first"))
			if v, _ := s.get(t, keys[1]); v != "first" {
				t.Errorf("the change of the other store: %q", v)
			}
			applied(t, rc, &ops.Op{Kind: ops.Drop, Tokens: ranges[1]})
			if v, ok := s.get(t, keys[1]); ok {
				t.Errorf("what the other store has dropped: %q", v)
			}
			applied(t, rc, put(keys[1], "second"))
			if _, err := script.Commit(nil); err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{"script", "second"} {
				if v, _ := s.get(t, keys[i]); v != want {
					t.Errorf("%s is %q, want %q", keys[i], v, want)
				}
			}
			s.audit(t)
		})
	}
}

// A unit began to change a key before its range was followed. Its commit is refused, also where
// the range is followed no more, and those of other units are not.
func TestUnitCommitsNothingInRangeFollowedSinceItBegan(t *testing.T) {
	keys, ranges := sameLatchApart(t)
	for name, change := range map[string]func(t *testing.T, u *Unit, key string) error{
		"a header": func(t *testing.T, u *Unit, key string) error {
			v, err := u.Get([]byte(key))
			if err != nil {
				t.Fatal(err)
			}
			return u.PutString([]byte(key), v, []byte("script"), 0, false)
		},
		"a long value": func(t *testing.T, u *Unit, key string) error {
			v, err := u.Get([]byte(key))
			if err != nil {
				t.Fatal(err)
			}
			return u.PutString([]byte(key), v, []byte(strings.Repeat("x", 3<<20)), 0, false)
		},
		"a removal": func(t *testing.T, u *Unit, key string) error {
			v, err := u.Get([]byte(key))
			if err != nil {
				t.Fatal(err)
			}
			u.Delete([]byte(key), v)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
			defer s.mustClose(t)
			for _, key := range keys {
				s.set(t, key, "old", 0)
			}
			var units [2]*Unit
			for i, key := range keys {
				units[i] = s.NewUnit()
				if i == 1 { // of the same latch
					continue
				}
				units[i].Begin(1, []Place{units[i].Place([]byte(key))})
				if err := change(t, units[i], key); err != nil {
					t.Fatal(err)
				}
			}
			rc := s.NewReceiver(ranges[0])
			applied(t, rc, put(keys[0], "new"))
			rc.Close()
			if _, err := units[0].Commit(nil); !errors.Is(err, ErrFollows) || errors.Is(err, ErrUnknown) {
				t.Errorf("the commit in the range that was followed: %v", err)
			}
			units[1].Begin(1, []Place{units[1].Place([]byte(keys[1]))})
			rc = s.NewReceiver(ranges[0])
			defer rc.Close()
			if err := change(t, units[1], keys[1]); err != nil {
				t.Fatal(err)
			}
			if _, err := units[1].Commit(nil); err != nil {
				t.Errorf("the commit in another range: %v", err)
			}
			if v, _ := s.get(t, keys[0]); v != "new" {
				t.Errorf("%s is %q", keys[0], v)
			}
			s.set(t, keys[0], "later", 0) // it began after that
			if v, _ := s.get(t, keys[0]); v != "later" {
				t.Errorf("%s is %q", keys[0], v)
			}
			s.audit(t)
		})
	}
}

// Which places were followed until when is what a table of all places says.
func TestFollowedPiecesAreThoseOfATable(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	const places = 32 // and the last of all, in the place of the last of these
	at := func(i int) Place {
		if i == places-1 {
			return ^Place(0)
		}
		return Place(i)
	}
	var pieces []followedPiece
	var table [places]uint64
	for turn := uint64(1); turn < 300; turn++ {
		var now []layout.Interval
		for range rnd.IntN(4) {
			first := rnd.IntN(places)
			now = append(now, layout.Interval{First: at(first), Last: at(first + rnd.IntN(places-first))})
		}
		now = layout.Union(now)
		for i := range table {
			in := layout.ContainsFunc(now)(at(i))
			if table[i] == stillFollowed && !in {
				table[i] = turn
			} else if in {
				table[i] = stillFollowed
			}
		}
		pieces = followedNext(pieces, now, turn)
		for i, want := range table {
			got := uint64(0)
			if p := findFollowed(pieces, at(i)); p != nil {
				got = p.until
			}
			if got != want {
				t.Fatalf("turn %d, place %x: %d, want %d; %v", turn, at(i), got, want, pieces)
			}
		}
		for i := 1; i < len(pieces); i++ {
			if a, b := pieces[i-1], pieces[i]; a.Last >= b.First || a.Last+1 == b.First && a.until == b.until {
				t.Fatalf("turn %d: %v", turn, pieces)
			}
		}
	}
}

// The receiver of a range is over, since this store has the say there now, and is closed later. A
// unit that begins in between commits, and nothing of the stream does any more.
func TestUnitCommitsInRangeOfEndedReceiver(t *testing.T) {
	keys, ranges := sameLatchApart(t)
	key := keys[0]
	write := func(t *testing.T, u *Unit) {
		t.Helper()
		v, err := u.Get([]byte(key))
		if err != nil {
			t.Fatal(err)
		}
		if err := u.PutString([]byte(key), v, []byte("unit"), 0, false); err != nil {
			t.Fatal(err)
		}
	}
	for name, late := range map[string]*ops.Op{
		"a change": put(key, "late"),
		"a drop":   {Kind: ops.Drop, Tokens: ranges[0]},
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
			defer s.mustClose(t)
			rc := s.NewReceiver(ranges[0])
			applied(t, rc, put(key, "copied"))
			early, u := s.NewUnit(), s.NewUnit()
			early.Begin(1, []Place{early.Place([]byte(key))})
			write(t, early)
			// A batch waits for the lock of the key's latch, or comes for it only now.
			l := &s.latches[latch.Of(early.Place([]byte(key)))]
			l.LockFollow()
			under := make(chan error)
			go func() {
				w := ops.NewWriter(0, 0)
				w.Add(late)
				_, err := rc.Apply(w.Buf, nil)
				under <- err
			}()
			rc.Revoke()
			if _, err := early.Commit(nil); !errors.Is(err, ErrFollows) {
				t.Errorf("the commit of a unit that began before: %v", err)
			}
			u.Begin(1, []Place{u.Place([]byte(key))})
			write(t, u)
			l.UnlockFollow()
			if err := <-under; !errors.Is(err, errRevoked) {
				t.Errorf("the batch that was under way: %v", err)
			}
			rc.Close()  // the sender ends its stream while the unit runs
			rc.Revoke() // comes too late, and changes nothing
			other := s.NewReceiver(ranges[1])
			defer other.Close()
			if _, err := u.Commit(nil); err != nil {
				t.Errorf("the commit of a unit that began after: %v", err)
			}
			if v, _ := s.get(t, key); v != "unit" {
				t.Errorf("%s is %q", key, v)
			}
			s.audit(t)
		})
	}
}
