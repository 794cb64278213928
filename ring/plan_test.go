package ring

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestPlan(t *testing.T) {
	present := mustPlacement(t, `ringside placement 1
		00000000-20000000 epoch=1 primary=a backups=b
		20000000-40000000 epoch=1 primary=b backups=a
		40000000-60000000 epoch=1 primary=c
		60000000-80000000 epoch=1
		80000000-00000000 epoch=1 primary=a backups=b,c`)
	desired := mustPlacement(t, `ringside placement 1
		00000000-10000000 epoch=2 primary=d backups=b
		10000000-30000000 epoch=2 primary=b backups=a
		30000000-40000000 epoch=2 primary=a backups=d
		40000000-80000000 epoch=2 primary=c backups=d
		80000000-00000000 epoch=1 primary=a backups=c`)
	plan := NewPlan(present, desired)
	var got []string
	for _, h := range plan.Handoffs {
		for _, p := range h.Pieces {
			got = append(got, fmt.Sprintf("%s→%s %v primary=%v release=%s", h.From, h.To, p.Range, p.Primary, p.Release))
		}
	}
	for _, p := range plan.Promotions {
		got = append(got, fmt.Sprintf("promote %v %s→%s", p.Range, p.From, p.To))
	}
	for _, d := range plan.Drops {
		got = append(got, fmt.Sprintf("drop %v %s", d.Range, d.Node))
	}
	for _, r := range plan.Lost {
		got = append(got, fmt.Sprintf("lost %v", r))
	}
	want := []string{
		"a→d 00000000-10000000 primary=true release=a",
		"b→d 30000000-40000000 primary=false release=b",
		"c→d 40000000-60000000 primary=false release=",
		"promote 10000000-20000000 a→b",
		"promote 30000000-40000000 b→a",
		"drop 80000000-00000000 b",
		"lost 60000000-80000000",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	tokens := func(r Range) Load { return Load{Keys: int64(r.Len()), Bytes: 2 * int64(r.Len())} }
	if load := plan.Handoffs[1].Load(tokens); load.Keys != 1<<28 || load.Bytes != 1<<29 {
		t.Errorf("%+v", load)
	}
}

// Carried out on any token, a plan leads from one placement to the other.
func TestPlanCarriedOutIsTheDesiredPlacement(t *testing.T) {
	rnd := newRand(t)
	for range 100 {
		present, desired := randomPlacement(rnd, 1+rnd.IntN(30)), randomPlacement(rnd, 1+rnd.IntN(30))
		plan := NewPlan(present, desired)
		for range 100 {
			token := Token(rnd.Uint32())
			was, will := present.Lookup(token), desired.Lookup(token)
			holders := slices.Collect(was.Copies())
			primary := was.Primary
			for _, h := range plan.Handoffs {
				for _, p := range h.Pieces {
					if !p.Range.Contains(token) {
						continue
					}
					if h.From != was.Primary {
						t.Fatalf("%08x travels from %s, its primary is %s", token, h.From, was.Primary)
					}
					holders = append(holders, h.To)
					holders = slices.DeleteFunc(holders, func(n string) bool { return n == p.Release })
					if p.Primary {
						primary = h.To
					}
				}
			}
			for _, p := range plan.Promotions {
				if p.Range.Contains(token) {
					primary = p.To
				}
			}
			for _, d := range plan.Drops {
				if d.Range.Contains(token) {
					holders = slices.DeleteFunc(holders, func(n string) bool { return n == d.Node })
				}
			}
			lost := slices.ContainsFunc(plan.Lost, func(r Range) bool { return r.Contains(token) })
			if lost != (was.Primary == "" && will.Primary != "") {
				t.Fatalf("%08x: lost %v: %+v, %+v", token, lost, was, will)
			}
			if lost {
				continue
			}
			want := slices.Sorted(will.Copies())
			if slices.Sort(holders); !slices.Equal(holders, want) || len(want) > 0 && primary != will.Primary {
				t.Fatalf("%08x: %s of %v, want %+v; was %+v", token, primary, holders, will, was)
			}
		}
	}
}

func TestOverlayCoversTheCircleOnce(t *testing.T) {
	rnd := newRand(t)
	for range 100 {
		a, b := randomPlacement(rnd, 1+rnd.IntN(10)), randomPlacement(rnd, 1+rnd.IntN(10))
		at, covered := Token(0), uint64(0)
		for r, rows := range Overlay(a, b) {
			if r.Start != at || r.Wraps() {
				t.Fatalf("%v after %08x", r, at)
			}
			at = r.End
			covered += r.Len()
			for _, token := range []Token{r.Start, r.End - 1} {
				if rows[0] != a.Lookup(token) || rows[1] != b.Lookup(token) {
					t.Fatalf("%v: rows %v and %v", r, rows[0].Range, rows[1].Range)
				}
			}
		}
		if covered != 1<<32 {
			t.Fatalf("%d tokens", covered)
		}
	}
}
