package ring

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomPlacement has about n ranges of nodes n0 to n9, with up to three backups and
// some learners and ranges without a copy.
func randomPlacement(rnd *rand.Rand, n int) *Placement {
	var starts []Token
	for range n {
		starts = append(starts, Token(rnd.Uint32()))
		if rnd.IntN(4) == 0 { // close together
			starts = append(starts, starts[len(starts)-1]+Token(rnd.IntN(3)))
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	rows := make([]Row, len(starts))
	for i := range rows {
		rows[i].Range = Range{starts[i], starts[(i+1)%len(starts)]}
		rows[i].Epoch = rnd.Uint64N(100)
		nodes := rnd.Perm(10)
		pick := func(n int) (names []string) {
			for range n {
				names = append(names, fmt.Sprint("n", nodes[0]))
				nodes = nodes[1:]
			}
			return names
		}
		if rnd.IntN(10) > 0 {
			rows[i].Primary = pick(1)[0]
			rows[i].Backups = pick(rnd.IntN(4))
		}
		if rnd.IntN(5) == 0 {
			rows[i].Learners = pick(1)
		}
	}
	rnd.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	p, err := NewPlacement(rows)
	if err != nil {
		panic(err)
	}
	return p
}

func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func TestLookupFindsTheRow(t *testing.T) {
	rnd := newRand(t)
	for _, n := range []int{1, 2, 3, 10, 1000, 30000} {
		p := randomPlacement(rnd, n)
		check := func(token Token) {
			if row := p.Lookup(token); !row.Range.Contains(token) {
				t.Fatalf("%d rows: %08x is looked up in %v", n, token, row.Range)
			}
		}
		for row := range p.Rows() {
			check(row.Range.Start - 1)
			check(row.Range.Start)
			check(row.Range.End - 1)
			check(row.Range.End)
		}
		for range 1000 {
			check(Token(rnd.Uint32()))
		}
		check(0)
		check(1<<32 - 1)
	}
}

// Points picked by hand may all lie in one corner of the circle.
func TestLookupAmongRowsOnOneSpot(t *testing.T) {
	rows := make([]Row, 50000)
	for i := range rows {
		rows[i] = Row{Range: Range{Token(7 + i), Token(8 + i)}, Primary: "a"}
	}
	rows[len(rows)-1].Range.End = 7
	p, err := NewPlacement(rows)
	if err != nil {
		t.Fatal(err)
	}
	for token := range Token(60000) {
		if !p.Lookup(token).Range.Contains(token) {
			t.Fatalf("%08x is looked up in %v", token, p.Lookup(token).Range)
		}
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	p := randomPlacement(newRand(t), 1000)
	if n := testing.AllocsPerRun(100, func() { p.Lookup(12345) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPlacementsThatAreNone(t *testing.T) {
	half := Token(1 << 31)
	for name, tt := range map[string]struct {
		rows []Row
		want error
	}{
		"no rows":            {nil, ErrTiling},
		"a part":             {[]Row{{Range: Range{0, half}}}, ErrTiling},
		"a gap":              {[]Row{{Range: Range{0, half}}, {Range: Range{half + 1, 0}}}, ErrTiling},
		"an overlap":         {[]Row{{Range: Range{0, half + 1}}, {Range: Range{half, 0}}}, ErrTiling},
		"twice the whole":    {[]Row{{}, {}}, ErrTiling},
		"the whole and half": {[]Row{{}, {Range: Range{half, 0}}}, ErrTiling},
		"two turns":          {[]Row{{Range: Range{0, half}}, {Range: Range{half, 0}}, {Range: Range{0, half}}, {Range: Range{half, 0}}}, ErrTiling},
		"an own backup":      {[]Row{{Primary: "a", Backups: []string{"a"}}}, ErrOwners},
		"a backup twice":     {[]Row{{Primary: "a", Backups: []string{"b", "b"}}}, ErrOwners},
		"a learning backup":  {[]Row{{Primary: "a", Backups: []string{"b"}, Learners: []string{"b"}}}, ErrOwners},
		"only a backup":      {[]Row{{Backups: []string{"b"}}}, ErrOwners},
		"a bad name":         {[]Row{{Primary: "a b"}}, ErrID},
		"an empty backup":    {[]Row{{Primary: "a", Backups: []string{""}}}, ErrID},
		"an empty learner":   {[]Row{{Primary: "a", Learners: []string{""}}}, ErrID},
	} {
		if _, err := NewPlacement(tt.rows); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWithout(t *testing.T) {
	p := mustPlacement(t, `ringside placement 1
		00000000-40000000 epoch=4 primary=a backups=b,c learners=d
		40000000-80000000 epoch=5 primary=b backups=a
		80000000-c0000000 epoch=6 primary=c backups=d
		c0000000-00000000 epoch=7 primary=a`)
	if p.Without("x") != p || p.Without() != p {
		t.Error("nothing to change makes another placement")
	}
	checkText(t, p.Without("a", "d", "x"), `ringside placement 1
		00000000-40000000 epoch=5 primary=b backups=c
		40000000-80000000 epoch=5 primary=b
		80000000-c0000000 epoch=6 primary=c
		c0000000-00000000 epoch=8`)
	checkText(t, p.Without("a").Without("b", "c"), `ringside placement 1
		00000000-40000000 epoch=6 learners=d
		40000000-80000000 epoch=6
		80000000-c0000000 epoch=7 primary=d
		c0000000-00000000 epoch=8`)
}

func TestSucceedSetsEpochs(t *testing.T) {
	present := mustPlacement(t, `ringside placement 1
		10000000-40000000 epoch=4 primary=a backups=b
		40000000-80000000 epoch=9 primary=b
		80000000-10000000 epoch=6 primary=c`)
	next := mustPlacement(t, `ringside placement 1
		10000000-40000000 epoch=0 primary=a backups=c
		40000000-60000000 epoch=0 primary=b
		60000000-90000000 epoch=0 primary=b
		90000000-08000000 epoch=0 primary=c
		08000000-10000000 epoch=0 primary=c`)
	p, err := Succeed(present, next.rows)
	if err != nil {
		t.Fatal(err)
	}
	checkText(t, p, `ringside placement 1
		08000000-10000000 epoch=7 primary=c
		10000000-40000000 epoch=4 primary=a backups=c
		40000000-60000000 epoch=10 primary=b
		60000000-90000000 epoch=10 primary=b
		90000000-08000000 epoch=7 primary=c`)
	if p, err = Succeed(nil, next.rows); err != nil || p.rows[0].Epoch != 1 {
		t.Errorf("the first epoch is %d, %v", p.rows[0].Epoch, err)
	}
	one, err := Succeed(present, []Row{{Primary: "a"}})
	if err != nil || one.rows[0].Epoch != 10 {
		t.Errorf("one range after all: epoch %d, %v", one.rows[0].Epoch, err)
	}
}

// Whatever follows whatever, an epoch is above all that its range had before, unless
// nothing has changed.
func TestEpochsNeverFallBack(t *testing.T) {
	rnd := newRand(t)
	for range 200 {
		before, next := randomPlacement(rnd, 1+rnd.IntN(20)), randomPlacement(rnd, 1+rnd.IntN(20))
		rows := slices.Clone(next.rows)
		for i := range rows { // some rows stay as they are
			if j := before.Index(rows[i].Range.Start); before.rows[j].Range == rows[i].Range {
				rows[i].Primary, rows[i].Backups, rows[i].Learners = before.rows[j].Primary, nil, nil
			}
		}
		after, err := Succeed(before, rows)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			token := Token(rnd.Uint32())
			was, is := before.Lookup(token), after.Lookup(token)
			if kept := was.Range == is.Range && was.Primary == is.Primary; kept != (was.Epoch == is.Epoch) || is.Epoch < was.Epoch {
				t.Fatalf("%08x: %+v becomes %+v", token, was, is)
			}
		}
	}
}

func mustPlacement(t testing.TB, text string) *Placement {
	t.Helper()
	p := new(Placement)
	if err := p.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return p
}

func checkText(t *testing.T, p *Placement, want string) {
	t.Helper()
	got, err := p.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	if expected, _ := mustPlacement(t, want).MarshalText(); string(got) != string(expected) {
		t.Errorf("got\n%s\nwant\n%s", got, expected)
	}
}

func BenchmarkLookup(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{256, 16000, 160000} {
		b.Run(fmt.Sprintf("ranges=%d", n), func(b *testing.B) {
			p := randomPlacement(rnd, n*4/5)
			tokens := make([]Token, 1<<12)
			for i := range tokens {
				tokens[i] = Token(rnd.Uint32())
			}
			found := 0
			b.ReportAllocs()
			for b.Loop() {
				for _, t := range tokens {
					found += len(p.Lookup(t).Primary)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(tokens)), "ns/lookup")
			if found == 0 {
				b.Fatal("no key has a primary")
			}
		})
	}
}
