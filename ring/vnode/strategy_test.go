package vnode

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

var _ ring.Strategy = (*Strategy)(nil)

func mustNew(t testing.TB, cfg Config) *Strategy {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustPlace(t testing.TB, s *Strategy, in ring.Input) *ring.Placement {
	t.Helper()
	p, err := s.Desired(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func equalMembers(n int) []ring.Member {
	members := make([]ring.Member, n)
	for i := range members {
		members[i] = ring.Member{ID: fmt.Sprintf("node-%d", i), Weight: 1}
	}
	return members
}

func TestPointsFollowFromTheID(t *testing.T) {
	points, err := mustNew(t, Config{VNodes: 2}).Points([]ring.Member{{ID: "a", Weight: 1}})
	want := []ring.Token{Token([]byte("a|0")), Token([]byte("a|1"))}
	slices.Sort(want)
	if err != nil || !slices.Equal(points["a"], want) {
		t.Errorf("%v, want %v, %v", points["a"], want, err)
	}
}

// A brace in an id is no hash tag.
func TestPointsHashTheWholeID(t *testing.T) {
	points, err := mustNew(t, Config{VNodes: 1}).Points([]ring.Member{{ID: "a{b}", Weight: 1}, {ID: "c{b}", Weight: 1}})
	if err != nil || points["a{b}"][0] == points["c{b}"][0] {
		t.Errorf("%v, %v", points, err)
	}
}

func TestWeightsScaleTheNumberOfPoints(t *testing.T) {
	for _, tt := range []struct {
		weight       float64
		vnodes, want int
	}{
		{1, 4, 4}, {2, 4, 8}, {0.5, 4, 2}, {0.3, 4, 1}, {0.001, 4, 1}, {1.4, 1, 1}, {1.5, 1, 2}, {2.5, 1, 3}, {1000, 65, 65000},
		{1, MaxVNodes, MaxVNodes}, {math.SmallestNonzeroFloat64, 4, 1},
	} {
		points, err := mustNew(t, Config{VNodes: tt.vnodes}).Points([]ring.Member{{ID: "a", Weight: tt.weight}})
		if err != nil || len(points["a"]) != tt.want {
			t.Errorf("%d × %v: %d points, want %d, %v", tt.vnodes, tt.weight, len(points["a"]), tt.want, err)
		}
	}
}

type naivePoint struct {
	at ring.Token
	id string
}

func naiveCopies(all []naivePoint, token ring.Token, copies int) []string {
	from := max(0, slices.IndexFunc(all, func(p naivePoint) bool { return p.at >= token }))
	var found []string
	for i := 0; i < len(all) && len(found) < copies; i++ {
		if id := all[(from+i)%len(all)].id; !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	return found
}

// Pins are drawn from a few places, so that many are equal.
func TestCopiesAreTheNextNodesOnTheRing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	places := []ring.Token{0, 1, 1 << 18, 1<<18 - 1, 1 << 31, 1<<32 - 1}
	for i := 0; i < 10; i++ {
		places = append(places, ring.Token(r.Uint32()))
	}
	for range 60 {
		members := equalMembers(1 + r.IntN(8))
		for i := range members {
			members[i].Weight = 0.1 + 3*r.Float64()
			for range r.IntN(4) {
				members[i].Pins = append(members[i].Pins, places[r.IntN(len(places))])
			}
			members[i].OnlyPins = len(members[i].Pins) > 0 && r.IntN(2) == 0
		}
		s := mustNew(t, Config{VNodes: 1 + r.IntN(10), Slots: r.IntN(2) == 0})
		in := ring.Input{Members: members, Backups: r.IntN(4)}
		p := mustPlace(t, s, in)
		points, err := s.Points(members)
		if err != nil {
			t.Fatal(err)
		}
		var all []naivePoint
		for id, tokens := range points {
			for _, at := range tokens {
				all = append(all, naivePoint{at, id})
			}
		}
		slices.SortFunc(all, func(a, b naivePoint) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id)) })

		tokens := slices.Clone(places)
		for _, point := range all {
			tokens = append(tokens, point.at-1, point.at, point.at+1)
		}
		for range 50 {
			tokens = append(tokens, ring.Token(r.Uint32()))
		}
		for _, token := range tokens {
			if s.slots { // only slots' first tokens are tokens of keys
				token &^= 1<<18 - 1
			}
			if got, want := slices.Collect(p.Lookup(token).Copies()), naiveCopies(all, token, in.Copies()); !slices.Equal(got, want) {
				t.Fatalf("%+v, token %d of %v: %v, want %v", s, token, members, got, want)
			}
		}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		if other := mustPlace(t, s, in); !slices.EqualFunc(slices.Collect(p.Rows()), slices.Collect(other.Rows()), sameRow) {
			t.Fatalf("another placement for %v", members)
		}
	}
}

func sameRow(a, b *ring.Row) bool {
	return a.Range == b.Range && a.Epoch == b.Epoch && a.Primary == b.Primary && slices.Equal(a.Backups, b.Backups)
}

// A point that an operator adds takes from the owner of the place, from nobody else,
// and goes back to it.
func TestPinTakesLoadOffOneNeighbour(t *testing.T) {
	s := mustNew(t, Config{})
	members := equalMembers(5)
	before := mustPlace(t, s, ring.Input{Members: members})
	key := []byte("hot")
	owner := before.Lookup(s.Token(key)).Primary
	i := slices.IndexFunc(members, func(m ring.Member) bool { return m.ID != owner })
	members[i].Pins = []ring.Token{s.Token(key)}

	after := mustPlace(t, s, ring.Input{Members: members, Present: before})
	if got := after.Lookup(s.Token(key)).Primary; got != members[i].ID {
		t.Errorf("the key is at %s", got)
	}
	plan := ring.NewPlan(before, after)
	if len(plan.Handoffs) != 1 || plan.Handoffs[0].From != owner || plan.Handoffs[0].To != members[i].ID {
		t.Errorf("%+v", plan.Handoffs)
	}
	members[i].Pins = nil
	back := mustPlace(t, s, ring.Input{Members: members, Present: after})
	if plan := ring.NewPlan(before, back); len(plan.Handoffs) != 0 {
		t.Errorf("%+v", plan.Handoffs)
	}
}

func TestPinsAloneReplaceTheOwnPoints(t *testing.T) {
	members := []ring.Member{
		{ID: "a", Weight: 1, Pins: []ring.Token{1 << 30, 1 << 30}, OnlyPins: true},
		{ID: "b", Weight: 1000, Pins: []ring.Token{1 << 30, 3 << 30}, OnlyPins: true},
	}
	text, err := mustPlace(t, mustNew(t, Config{VNodes: MaxVNodes}), ring.Input{Members: members, Backups: 1}).MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	const want = `ringside placement 1
40000001-c0000001 epoch=1 primary=b backups=a
c0000001-40000001 epoch=1 primary=a backups=b
`
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestSlotsStayWhole(t *testing.T) {
	s := mustNew(t, Config{VNodes: 100, Slots: true})
	for row := range mustPlace(t, s, ring.Input{Members: equalMembers(20), Backups: 1}).Rows() {
		if row.Range.Start<<14 != 0 {
			t.Fatalf("%v cuts a slot", row.Range)
		}
	}
	if got, want := s.Token([]byte("a{foo}")), ring.Token(12182<<18); got != want {
		t.Errorf("token %#x, want %#x", got, want)
	}
}

func TestNumberOfVNodesHasBounds(t *testing.T) {
	for _, n := range []int{-1, math.MinInt, MaxVNodes + 1, math.MaxInt} {
		if s, err := New(Config{VNodes: n}); s != nil || !errors.Is(err, ErrVNodes) {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestEveryFaultOfTheMembers(t *testing.T) {
	s := mustNew(t, Config{VNodes: 100})
	_, err := s.Desired(ring.Input{
		Members: []ring.Member{
			{ID: "a", Weight: 1}, {ID: "a", Weight: math.NaN()}, {ID: "", Weight: 1}, {ID: "b", Weight: -1}, {ID: "c", Weight: math.Inf(1)},
			{ID: "d", Weight: 1, OnlyPins: true}, {ID: "e", Weight: 656}, {ID: "f", Weight: 1, Pins: make([]ring.Token, MaxVNodes)},
		},
		Backups: -1,
	})
	for _, want := range []error{ring.ErrDuplicate, ring.ErrWeight, ring.ErrID, ring.ErrPins, ring.ErrBackups, ring.ErrPoints} {
		if !errors.Is(err, want) {
			t.Errorf("%v is not among %v", want, err)
		}
	}
	if _, err := s.Desired(ring.Input{}); !errors.Is(err, ring.ErrNoMembers) {
		t.Error(err)
	}
	if _, err := mustNew(t, Config{VNodes: MaxVNodes}).Points(equalMembers(65)); !errors.Is(err, ring.ErrPoints) {
		t.Error(err)
	}
	for most, want := range map[int]error{399: ring.ErrPoints, 400: nil} {
		_, err := s.Desired(ring.Input{Members: equalMembers(4), MostPoints: most})
		if !errors.Is(err, want) {
			t.Errorf("400 points where %d are allowed: %v", most, err)
		}
	}
}

func BenchmarkDesired(b *testing.B) {
	for _, vnodes := range []int{4, 160} {
		b.Run(fmt.Sprintf("1000 nodes of %d", vnodes), func(b *testing.B) {
			s := mustNew(b, Config{VNodes: vnodes})
			in := ring.Input{Members: equalMembers(1000), Backups: 1}
			b.ReportAllocs()
			for b.Loop() {
				mustPlace(b, s, in)
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	p := mustPlace(b, mustNew(b, Config{VNodes: 160}), ring.Input{Members: equalMembers(100), Backups: 1})
	tokens := make([]ring.Token, 1<<16)
	for i := range tokens {
		tokens[i] = ring.Token(rand.Uint32())
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		p.Lookup(tokens[i&(1<<16-1)])
		i++
	}
}
