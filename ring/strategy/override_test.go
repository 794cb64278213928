package strategy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
)

// overridesFor makes overrides of ranges of a placement or, if cut is set, of parts of them, for other members.
func overridesFor(rnd *rand.Rand, p *ring.Placement, members []ring.Member, cut bool) []ring.Override {
	var all []ring.Override
	for row := range p.Rows() {
		to := members[rnd.IntN(len(members))].ID
		if rnd.IntN(4) > 0 || to == row.Primary || row.Range.Wraps() || row.Range.Len() < 64 {
			continue
		}
		r := row.Range
		if cut && rnd.IntN(2) == 0 {
			r.Start += ring.Token(row.Range.Len() / 16 * 3)
			r.End = r.Start + ring.Token(row.Range.Len()/16)
		}
		all = append(all, ring.Override{Range: r, Node: to, Home: row.Primary})
	}
	return all[:min(len(all), ring.MaxOverrides)]
}

// TestOverridesMoveTheirRangesAndNothingElse runs all strategies. Overrides are followed to the token, a
// repetition changes nothing, and without an override its range is back.
func TestOverridesMoveTheirRangesAndNothingElse(t *testing.T) {
	randomtest.Draw(t, 4)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, name := range Names() {
		for backups := range 3 {
			t.Run(fmt.Sprint(name, backups), func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(seed, uint64(backups)))
				s, err := Config{Name: name, Hash: MD5}.New()
				if err != nil {
					t.Fatal(err)
				}
				in := ring.Input{Backups: backups}
				for i := range 5 {
					in.Members = append(in.Members, ring.Member{ID: fmt.Sprint("n", i), Weight: 1})
				}
				desired := func() *ring.Placement {
					t.Helper()
					p, err := s.Desired(in)
					if err != nil {
						t.Fatal(err)
					}
					return p
				}
				base := desired()
				in.Present = base
				in.Overrides = overridesFor(rnd, base, in.Members, name != Buckets)
				if len(in.Overrides) == 0 {
					t.Skip("no range is large enough")
				}
				moved := desired()
				differences(t, base, moved, in.Overrides)
				in.Present = moved
				if again := desired(); !equalCopies(again, moved) {
					t.Error("a repetition moves something")
				}
				in.Overrides = in.Overrides[:len(in.Overrides)/2]
				if name != Buckets { // which keep what they have, as long as all have their quotas
					differences(t, base, desired(), in.Overrides)
				}
				// A node without overrides joins and leaves again: the ranges stay where their load has
				// brought them.
				in.Members = append(in.Members, ring.Member{ID: "new", Weight: 1})
				in.Present = desired()
				for i := range in.Overrides {
					if o := &in.Overrides[i]; in.Present.Lookup(o.Range.Start).Primary != o.Node {
						t.Errorf("%v is at %s after a join", o, in.Present.Lookup(o.Range.Start).Primary)
					}
				}
				// What keeps a bucket in its place can shift a quota by one, and so move one bucket more in
				// each round. A third of the rounds is followed by another one.
				for rounds := 0; ; rounds++ {
					again := desired()
					if equalCopies(again, in.Present) {
						break
					}
					if in.Present = again; rounds == 40 {
						t.Fatal("the placement after the join does not settle")
					}
				}
			})
		}
	}
}

// differences checks that a placement is another one with overrides: each moves the copy of one node.
func differences(t *testing.T, base, moved *ring.Placement, all []ring.Override) {
	t.Helper()
	for r, rows := range ring.Overlay(base, moved) {
		i := slices.IndexFunc(all, func(o ring.Override) bool { return o.Range.Contains(r.Start) })
		was, is := rows[0], rows[1]
		if i < 0 {
			if is.Primary != was.Primary || !slices.Equal(is.Backups, was.Backups) {
				t.Fatalf("%v has no override and is now %+v, was %+v", r, is, was)
			}
			continue
		}
		left := 0
		for node := range was.Copies() {
			if !is.Holds(node) {
				left++
			}
		}
		want := 1
		if was.Holds(all[i].Node) {
			want = 0
		}
		if is.Primary != all[i].Node || left != want || len(is.Backups) != len(was.Backups) {
			t.Fatalf("%v with %+v is now %+v, was %+v", r, all[i], is, was)
		}
	}
}

func equalCopies(a, b *ring.Placement) bool {
	for _, rows := range ring.Overlay(a, b) {
		if rows[0].Primary != rows[1].Primary || len(rows[0].Backups) != len(rows[1].Backups) {
			return false
		}
		for _, node := range rows[0].Backups {
			if !slices.Contains(rows[1].Backups, node) {
				return false
			}
		}
	}
	return true
}

// TestOverrideEndsWithItsNode takes the receiver away: the range is placed as without the override.
func TestOverrideEndsWithItsNode(t *testing.T) {
	for _, name := range Names() {
		s, err := Config{Name: name, Hash: MD5}.New()
		if err != nil {
			t.Fatal(err)
		}
		in := ring.Input{Members: []ring.Member{{ID: "a", Weight: 1}, {ID: "b", Weight: 1}}, Overrides: []ring.Override{{Node: "gone", Home: "a"}}}
		with, err := s.Desired(in)
		if err != nil {
			t.Fatal(err)
		}
		in.Overrides = nil
		without, err := s.Desired(in)
		if err != nil || !equalCopies(with, without) {
			t.Errorf("%s: an override to a node that is no member has an effect, %v", name, err)
		}
	}
}

func TestBadOverridesAreRefused(t *testing.T) {
	span := func(start, end ring.Token) ring.Range { return ring.Range{Start: start, End: end} }
	many := make([]ring.Override, ring.MaxOverrides+1)
	for i := range many {
		many[i] = ring.Override{Range: span(ring.Token(2*i), ring.Token(2*i+1)), Node: "b", Home: "a"}
	}
	for name, all := range map[string][]ring.Override{
		"no node":       {{Range: span(0, 1), Home: "a"}},
		"no home":       {{Range: span(0, 1), Node: "a"}},
		"to itself":     {{Range: span(0, 1), Node: "a", Home: "a"}},
		"overlap":       {{Range: span(0, 10), Node: "b", Home: "a"}, {Range: span(9, 20), Node: "b", Home: "a"}},
		"overlap at 0":  {{Range: span(5, 10), Node: "b", Home: "a"}, {Range: span(20, 6), Node: "b", Home: "a"}},
		"out of order":  {{Range: span(20, 30), Node: "b", Home: "a"}, {Range: span(0, 10), Node: "b", Home: "a"}},
		"whole and one": {{Range: span(0, 0), Node: "b", Home: "a"}, {Range: span(5, 10), Node: "b", Home: "a"}},
		"too many":      many,
	} {
		if err := ring.CheckOverrides(all); !errors.Is(err, ring.ErrOverrides) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := ring.CheckOverrides(many[:ring.MaxOverrides]); err != nil {
		t.Error(err)
	}
	if err := ring.CheckOverrides([]ring.Override{{Node: "b", Home: "a"}}); err != nil {
		t.Errorf("the whole circle: %v", err)
	}
	if err := ring.CheckOverrides(nil); err != nil {
		t.Error(err)
	}
}
