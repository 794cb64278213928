package table

import (
	"errors"
	"testing"

	"github.com/ringside-kv/ringside/internal/database"
)

// Policies of databases are part of commands and snapshots. Without them both have the form that older
// builds read.
func TestPoliciesGoThroughTheBinaryForm(t *testing.T) {
	first := found("n0", 4)
	first.Databases = 4
	plain := mustBytes(t, steps(t, new(State), first))
	first.Policies = database.NewPolicies([]database.Policy{{Number: 3, Together: true, Spot: 31}})
	s := new(State)
	for _, c := range []Command{
		first,
		&SetPolicy{Policy: database.Policy{Number: 1, Change: 9}, Starts: []NodeStart{{"n0", 1}}},
		&SetPolicy{Policy: database.Policy{Number: 1, Together: true, Spot: 2}, Ends: 9},
		&SetPolicy{Policy: database.Policy{Number: 3, Change: 10}, Starts: []NodeStart{{"n0", 1}}},
		&SetPolicy{Policy: database.Policy{Number: 3}, Ends: 10},
		&SetPolicy{Policy: database.Policy{Number: 1, Change: 11}, Starts: []NodeStart{{"n0", 1}}},
		&SetPolicy{Policy: database.Policy{Number: 1}, Ends: 11},
	} {
		read, err := Decode(Encode(c))
		if err != nil {
			t.Fatal(err)
		}
		s = steps(t, s, read)
		b := mustBytes(t, s)
		again := new(State)
		if err := again.UnmarshalBinary([]byte(b)); err != nil || mustBytes(t, again) != b {
			t.Fatalf("read back after %+v: %v", c, err)
		}
		if want := unvaluedSnapshot; s.Policies() != nil && b[0] != want {
			t.Errorf("version %d with policies, want %d", b[0], want)
		}
	}
	if b := mustBytes(t, s); b[0] != plain[0] || s.Policies() != nil {
		t.Errorf("version %d without policies, at first %d; %+v", b[0], plain[0], s.Policies())
	}
}

// One change of a policy at a time, and it ends once.
func TestPolicyChangesOneAtATime(t *testing.T) {
	first := found("n0", 4)
	first.Databases = 4
	s := steps(t, new(State), first)
	starts := []NodeStart{{"n0", 1}}
	refused := func(c Command, want error) {
		t.Helper()
		if _, err := s.Apply(s.Index()+1, c); !errors.Is(err, want) {
			t.Errorf("%+v: %v, want %v", c, err, want)
		}
	}
	refused(&SetPolicy{Policy: database.Policy{Number: 4, Change: 1}, Starts: starts}, ErrInvalid)
	refused(&SetPolicy{Policy: database.Policy{Number: 1, Spot: 1, Change: 1}, Starts: starts}, ErrInvalid)
	refused(&SetPolicy{Policy: database.Policy{Number: 1, Together: true, Spot: database.Spots, Change: 1}, Starts: starts}, ErrInvalid)
	refused(&SetPolicy{Policy: database.Policy{Number: 1, Together: true}, Starts: starts}, ErrInvalid)
	refused(&SetPolicy{Policy: database.Policy{Number: 1, Change: 1}}, ErrIncarnation)
	refused(&SetPolicy{Policy: database.Policy{Number: 1, Together: true}, Ends: 1}, ErrStale)
	s = steps(t, s, &SetPolicy{Policy: database.Policy{Number: 1, Together: true, Change: 5}, Starts: starts})
	if p := s.Policies().Of(1); p.Together || p.Change != 5 {
		t.Errorf("%+v while it changes", p)
	}
	refused(&SetPolicy{Policy: database.Policy{Number: 1, Change: 6}, Starts: starts}, ErrStale)
	refused(&SetPolicy{Policy: database.Policy{Number: 1, Together: true}, Ends: 6}, ErrStale)
	refused(&SetPolicy{Policy: database.Policy{Number: 1, Together: true, Change: 6}, Ends: 5}, ErrInvalid)
	s = steps(t, s, &SetPolicy{Policy: database.Policy{Number: 1, Together: true}, Ends: 5})
	if p := s.Policies().Of(1); !p.Together || p.Change != 0 {
		t.Errorf("%+v afterwards", p)
	}
	// A change that fails keeps the policy, whatever its beginner took that for.
	s = steps(t, s, &SetPolicy{Policy: database.Policy{Number: 1, Change: 7}, Starts: starts},
		&SetPolicy{Policy: database.Policy{Number: 1, Change: 7}, Ends: 7})
	if p := s.Policies().Of(1); !p.Together || p.Change != 0 {
		t.Errorf("%+v after a change that failed", p)
	}
}
