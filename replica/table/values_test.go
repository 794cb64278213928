package table

import (
	"errors"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
)

// Agreed values are part of commands and snapshots. Without them both have the form that older builds read.
func TestValuesGoThroughTheBinaryForm(t *testing.T) {
	s := steps(t, new(State), found("n0", 4))
	plain := mustBytes(t, s)
	starts := []NodeStart{{"n0", 1}}
	set := func(changes ...agreed.Change) {
		t.Helper()
		read, err := Decode(Encode(&SetValues{Changes: changes, Starts: starts}))
		if err != nil {
			t.Fatal(err)
		}
		s = steps(t, s, read)
		b := mustBytes(t, s)
		again := new(State)
		if err := again.UnmarshalBinary([]byte(b)); err != nil || mustBytes(t, again) != b {
			t.Fatalf("read back: %v", err)
		}
		if again.Values() != nil && b[0] != snapshotVersion {
			t.Errorf("version %d with values", b[0])
		}
		for _, c := range changes {
			if got := again.Values().Of(c.Name); got.Body != c.Body || c.Remove != (got.Version == 0) {
				t.Errorf("%.20q is %.20q of %d", c.Name, got.Body, got.Version)
			}
		}
	}
	long := strings.Repeat("x", 1<<20)
	set(agreed.Change{Name: "user/a", Body: long}, agreed.Change{Name: "user/b\x00"})
	at := s.Index()
	for want, c := range map[error]*SetValues{
		ErrStale:       {Changes: []agreed.Change{{Name: "user/a", Body: "y"}}, Starts: starts},
		ErrTooMany:     {Changes: []agreed.Change{{Name: "c", Body: strings.Repeat(long, 8)}}, Starts: starts},
		ErrIncarnation: {Changes: []agreed.Change{{Name: "c"}}},
	} {
		if next, err := s.Apply(s.Index()+1, c); !errors.Is(err, want) || next != s {
			t.Errorf("%v, want %v", err, want)
		}
	}
	set(agreed.Change{Name: "user/a", Remove: true, Was: at}, agreed.Change{Name: "user/b\x00", Remove: true, Was: at})
	if b := mustBytes(t, s); b[0] != plain[0] || s.Values() != nil {
		t.Errorf("version %d without values, at first %d", b[0], plain[0])
	}
}
