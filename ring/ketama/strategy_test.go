package ketama

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

var _ ring.Strategy = (*Strategy)(nil)

// The continuum read literally: sort every point, take the first at or after.
type naivePoint struct {
	at ring.Token
	id string
}

func naivePoints(t *testing.T, s *Strategy, members []ring.Member) []naivePoint {
	t.Helper()
	points, err := s.Points(members)
	if err != nil {
		t.Fatal(err)
	}
	var all []naivePoint
	for id, tokens := range points {
		for _, p := range tokens {
			all = append(all, naivePoint{p, id})
		}
	}
	slices.SortFunc(all, func(a, b naivePoint) int {
		switch {
		case a.at != b.at:
			return int(int64(a.at) - int64(b.at))
		case len(a.id) != len(b.id):
			return len(a.id) - len(b.id)
		case a.id < b.id:
			return -1
		default:
			return 1
		}
	})
	return all
}

func naiveCopies(all []naivePoint, token ring.Token, copies int) []string {
	from := slices.IndexFunc(all, func(p naivePoint) bool { return p.at >= token })
	from = max(from, 0)
	var found []string
	for i := 0; i < len(all) && len(found) < copies; i++ {
		if id := all[(from+i)%len(all)].id; !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	return found
}

func TestCopiesAreTheNextServersOnTheContinuum(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 40 {
		members := randomMembers(r, 1+r.IntN(12))
		s := mustNew(t, Config{Points: 4 * (1 + r.IntN(50)), Rule: Rules()[r.IntN(2)], Slots: r.IntN(2) == 0})
		backups := r.IntN(4)
		p := mustPlace(t, s, ring.Input{Members: members, Backups: backups})
		all := naivePoints(t, s, members)
		copies := min(backups+1, len(members))
		for range 200 {
			token := s.Token([]byte(fmt.Sprint(r.Uint64())))
			if got, want := slices.Collect(p.Lookup(token).Copies()), naiveCopies(all, token, copies); !slices.Equal(got, want) {
				t.Fatalf("%+v, token %d of %v: %v, want %v", s, token, members, got, want)
			}
		}
	}
}

func randomMembers(r *rand.Rand, n int) []ring.Member {
	members := equalMembers(n)
	for i := range members {
		switch r.IntN(3) {
		case 0:
			members[i].Weight = float64(1 + r.IntN(10))
		case 1:
			members[i].Weight = 0.01 + 5*r.Float64()
		}
	}
	return members
}

func TestOrderOfTheMembersDoesNotMatter(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	s := mustNew(t, Config{})
	for range 20 {
		members := randomMembers(r, 20)
		first, err := mustPlace(t, s, ring.Input{Members: members, Backups: 1}).MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		second, err := mustPlace(t, s, ring.Input{Members: members, Backups: 1}).MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if string(first) != string(second) {
			t.Fatalf("another placement for %v", members)
		}
	}
}

// Among so many points some are equal. Length comes before bytes, so node-99 has
// what it shares with node-100.
func TestEqualPointsGoToTheShorterThenTheSmallerName(t *testing.T) {
	members := equalMembers(1500)
	s := mustNew(t, Config{})
	p := mustPlace(t, s, ring.Input{Members: members})
	all := naivePoints(t, s, members)
	equal, crossed := 0, 0
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.at != b.at || a.id == b.id {
			continue
		}
		equal++
		if a.id > b.id {
			crossed++
		}
		if got := p.Lookup(a.at).Primary; got != a.id {
			t.Errorf("point %d of %s and %s belongs to %s", a.at, a.id, b.id, got)
		}
	}
	if equal < 2 || crossed == 0 {
		t.Errorf("%d equal points, %d where length and bytes differ: the test shows nothing", equal, crossed)
	}
}

func TestServerWhoseShareRoundsToZeroOwnsNothing(t *testing.T) {
	members := []ring.Member{{ID: "a", Weight: 1000}, {ID: "b", Weight: 1}, {ID: "c", Weight: 1000}}
	for _, rule := range Rules() {
		s := mustNew(t, Config{Rule: rule})
		p := mustPlace(t, s, ring.Input{Members: members, Backups: 2})
		points, err := s.Points(members)
		if err != nil || len(points) != 3 || len(points["b"]) != 0 {
			t.Errorf("%s: %d points of b, %v", rule, len(points["b"]), err)
		}
		for row := range p.Rows() {
			if row.Holds("b") || len(row.Backups) != 1 {
				t.Fatalf("%s: %+v", rule, row)
			}
		}
	}
}

// Four points a server of 61 equal ones are none after libketama's rounding.
func TestOneServerAlwaysHasAPoint(t *testing.T) {
	s := mustNew(t, Config{Points: 4})
	for n := 1; n <= 130; n++ {
		p := mustPlace(t, s, ring.Input{Members: equalMembers(n), Backups: 1})
		if len(p.Nodes()) != n {
			t.Errorf("%d of %d servers have points", len(p.Nodes()), n)
		}
	}
}

func TestSmallestWeightsHaveTheirShares(t *testing.T) {
	for _, unit := range []float64{math.SmallestNonzeroFloat64, 1e-300, 1e-40, 1e-10, 250} {
		members := []ring.Member{{ID: "a", Weight: unit}, {ID: "b", Weight: 3 * unit}}
		for _, rule := range Rules() {
			points, err := mustNew(t, Config{Rule: rule}).Points(members)
			if err != nil || len(points["a"]) != 80 || len(points["b"]) != 240 {
				t.Errorf("%s, weight %g: %d and %d points, %v", rule, unit, len(points["a"]), len(points["b"]), err)
			}
		}
	}
}

func TestSlotsStayWhole(t *testing.T) {
	s := mustNew(t, Config{Slots: true})
	for row := range mustPlace(t, s, ring.Input{Members: equalMembers(20), Backups: 1}).Rows() {
		if row.Range.Start<<14 != 0 {
			t.Fatalf("%v cuts a slot", row.Range)
		}
	}
	if got, want := s.Token([]byte("a{foo}")), ring.Token(12182<<18); got != want {
		t.Errorf("token %#x, want %#x", got, want)
	}
}

func TestEveryFaultOfAConfig(t *testing.T) {
	for _, points := range []int{-160, -4, 1, 3, 161, MaxPoints + 4} {
		s, err := New(Config{Points: points, Rule: "memcached"})
		if s != nil || !errors.Is(err, ErrPoints) || !errors.Is(err, ErrRule) {
			t.Errorf("%d points: %v", points, err)
		}
	}
	for _, cfg := range []Config{{}, {Points: 4}, {Points: MaxPoints, Rule: Twemproxy}} {
		if _, err := New(cfg); err != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

func TestEveryFaultOfTheMembers(t *testing.T) {
	s := mustNew(t, Config{})
	_, err := s.Desired(ring.Input{
		Members: []ring.Member{
			{ID: "a", Weight: 1}, {ID: "a", Weight: math.NaN()}, {ID: "", Weight: 1},
			{ID: "b", Weight: -1}, {ID: "c", Weight: math.Inf(1)}, {ID: "d", Weight: 1, Pins: []ring.Token{1}},
		},
		Backups: -1,
	})
	for _, want := range []error{ring.ErrDuplicate, ring.ErrWeight, ring.ErrID, ring.ErrPins, ring.ErrBackups} {
		if !errors.Is(err, want) {
			t.Errorf("%v is not among %v", want, err)
		}
	}
	if _, err := s.Desired(ring.Input{}); !errors.Is(err, ring.ErrNoMembers) {
		t.Error(err)
	}
	if _, err := mustNew(t, Config{Points: MaxPoints}).Desired(ring.Input{Members: equalMembers(1030)}); !errors.Is(err, ring.ErrPoints) {
		t.Error(err)
	}
	for most, want := range map[int]error{399: ring.ErrPoints, 400: nil} {
		_, err := mustNew(t, Config{Points: 100}).Desired(ring.Input{Members: equalMembers(4), MostPoints: most})
		if !errors.Is(err, want) {
			t.Errorf("400 points where %d are allowed: %v", most, err)
		}
	}
}

func TestEpochsContinue(t *testing.T) {
	s := mustNew(t, Config{})
	before := mustPlace(t, s, ring.Input{Members: equalMembers(5), Backups: 1})
	after := mustPlace(t, s, ring.Input{Members: equalMembers(6), Backups: 1, Present: before})
	for r, rows := range ring.Overlay(before, after) {
		was, is := rows[0], rows[1]
		same := was.Range == is.Range && was.Primary == is.Primary
		if same && was.Epoch != is.Epoch || !same && is.Epoch <= was.Epoch {
			t.Fatalf("%v: %+v, then %+v", r, was, is)
		}
	}
}

func BenchmarkDesired(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("%d servers", n), func(b *testing.B) {
			s := mustNew(b, Config{})
			in := ring.Input{Members: equalMembers(n), Backups: 1}
			b.ReportAllocs()
			for b.Loop() {
				mustPlace(b, s, in)
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	p := mustPlace(b, mustNew(b, Config{}), ring.Input{Members: equalMembers(100), Backups: 1})
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

func BenchmarkLocator(b *testing.B) {
	s := mustNew(b, Config{})
	l := ring.NewLocator(s.Token, mustPlace(b, s, ring.Input{Members: equalMembers(100), Backups: 1}), nil)
	keys := make([]string, 1<<12)
	for i := range keys {
		keys[i] = fmt.Sprintf("key:%012d", rand.IntN(1e9))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		l.Get(keys[i&(1<<12-1)])
		i++
	}
}
