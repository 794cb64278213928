package workload

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// fits compares how often each value came with how often it should have, by Pearson's
// chi-squared test. A right generator fails once in a million times, and the seed is fixed.
func fits(t *testing.T, name string, counts []int64, share func(k int) float64) {
	t.Helper()
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	sum, classes := 0.0, 0
	seen, wanted := 0.0, 0.0
	for k, n := range counts {
		// Rare values are taken together, since the test is for frequent ones.
		seen, wanted = seen+float64(n), wanted+share(k)*float64(total)
		if wanted < 10 && k < len(counts)-1 {
			continue
		}
		if wanted > 0 {
			sum += (seen - wanted) * (seen - wanted) / wanted
			classes++
		}
		seen, wanted = 0, 0
	}
	// By Wilson and Hilferty's cube root it is almost normally distributed.
	k := float64(classes - 1)
	if z := (math.Cbrt(sum/k) - 1 + 2/(9*k)) / math.Sqrt(2/(9*k)); k > 0 && z > 4.75 {
		t.Errorf("%s: chi-squared %.1f of %d classes: %.1f sigma", name, sum, classes, z)
	}
}

func TestZipfIsZipf(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 100, 5000} {
		for _, s := range []float64{0.2, 0.99, 1, 1.0000001, 1.5, 4} {
			z, rnd := NewZipf(n, s), rand.New(rand.NewPCG(7, uint64(n)))
			counts := make([]int64, n)
			for range 200_000 {
				counts[z.Draw(rnd)]++
			}
			norm := 0.0
			for k := range n {
				norm += math.Pow(float64(k+1), -s)
			}
			fits(t, "zipf", counts, func(k int) float64 { return math.Pow(float64(k+1), -s) / norm })
		}
	}
}

// Also of very many keys, of which the first have a share that is known.
func TestZipfOfVeryManyKeys(t *testing.T) {
	const draws = 300_000
	z, rnd := NewZipf(MaxKeys, 1.5), rand.New(rand.NewPCG(3, 1))
	first := 0
	for range draws {
		k := z.Draw(rnd)
		if k < 0 || k >= MaxKeys {
			t.Fatal(k)
		}
		if k == 0 {
			first++
		}
	}
	const zeta = 2.6123753486854883 // of 1.5
	if got := float64(first) / draws; math.Abs(got-1/zeta) > 0.005 {
		t.Errorf("%v of key 0, want %v", got, 1/zeta)
	}
}

func TestKeysAreChosenAsAsked(t *testing.T) {
	const keys, draws = 1000, 200_000
	counts := func(text string, write bool) []int64 {
		t.Helper()
		c := must[Choice](t)(ParseChoice(text)).chooser(keys, 1, 4)
		n, rnd := make([]int64, keys), rand.New(rand.NewPCG(5, 5))
		for range draws {
			n[c.next(rnd, write)]++
		}
		return n
	}
	fits(t, "uniform", counts("uniform", false), func(int) float64 { return 1.0 / keys })
	fits(t, "hotspot", counts("hotspot 5% 80%", false), func(k int) float64 {
		if k < 50 {
			return 0.8 / 50
		}
		return 0.2 / 950
	})
	fits(t, "all is hot", counts("hotspot 100% 1%", false), func(int) float64 { return 1.0 / keys })
	for k, n := range counts("sequential", false) {
		if want := int64(0); k%4 == 1 && n == want || k%4 != 1 && n != want {
			t.Errorf("client 1 of 4 asks %d times for key %d", n, k)
		}
	}
	fits(t, "writes of latest", counts("latest", true), func(int) float64 { return 1.0 / keys })
}

// Who reads the latest reads what it has written last most often.
func TestLatestReadsRecentWritesMostOften(t *testing.T) {
	c, rnd := must[Choice](t)(ParseChoice("latest 1.2")).chooser(100, 3, 4), rand.New(rand.NewPCG(1, 1))
	for want := int64(75); want < 100; want++ {
		if k := c.next(rnd, true); k != want {
			t.Fatalf("key %d is written, want %d", k, want)
		}
	}
	if k := c.next(rnd, true); k != 0 {
		t.Fatalf("behind the last key comes %d", k)
	}
	counts := make([]int64, 100)
	for range 100_000 {
		counts[c.next(rnd, false)]++
	}
	for age := range 99 {
		if a, b := counts[(100-age)%100], counts[(99-age)%100]; age < 3 && a <= b {
			t.Errorf("what is %d writes old is read %d times, what is older %d times", age, a, b)
		}
	}
}

func TestSizesAreDrawnAsAsked(t *testing.T) {
	const draws = 100_000
	sample := func(text string) []int {
		s, rnd := must[Sizes](t)(ParseSizes(text)), rand.New(rand.NewPCG(11, 2))
		list := make([]int, draws)
		for i := range list {
			list[i] = s.draw(rnd)
		}
		slices.Sort(list)
		return list
	}
	mean := func(list []int) float64 {
		sum := 0.0
		for _, n := range list {
			sum += float64(n)
		}
		return sum / draws
	}
	if l := sample("70"); l[0] != 70 || l[draws-1] != 70 {
		t.Error(l[0], l[draws-1])
	}
	if l := sample("0"); l[0] != 0 || l[draws-1] != 0 {
		t.Error(l[0], l[draws-1])
	}
	if l := sample("10..1k"); l[0] != 10 || l[draws-1] != 1000 || math.Abs(mean(l)-505) > 5 {
		t.Error(l[0], l[draws-1], mean(l))
	}
	if l := sample("exp 500"); math.Abs(mean(l)-500) > 8 || math.Abs(float64(l[draws/2])-500*math.Ln2) > 8 {
		t.Error(mean(l), l[draws/2])
	}
	l := sample("lognormal 200 0.5")
	if math.Abs(float64(l[draws/2])-200) > 3 || math.Abs(float64(l[draws*84134/100_000])-200*math.Exp(0.5)) > 5 {
		t.Error(l[draws/2], l[draws*84134/100_000])
	}
	if l := sample("lognormal 1000 10"); l[0] < 1 || l[draws-1] > MaxValueLen {
		t.Error(l[0], l[draws-1])
	}
}

// The number of operations that have begun by a time is what the rate says.
func TestOperationsBeginWhenTheRateSays(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int64
		at   time.Duration
	}{
		{"1000", 0, 0}, {"1000", 2500, 2500 * time.Millisecond},
		{"0..1 over 1s", -1, 0}, {"1000..1000 over 2s", 500, 500 * time.Millisecond}, {"1000..1000 over 2s", 3000, 3 * time.Second},
		{"100..300 over 10s", 750, 5 * time.Second}, {"100..300 over 10s", 2000, 10 * time.Second}, {"100..300 over 10s", 2300, 11 * time.Second},
		{"300..100 over 10s", 1250, 5 * time.Second}, {"300..100 over 10s", 2100, 11 * time.Second},
	} {
		r, err := ParseRate(tt.text)
		if tt.n < 0 {
			if err == nil {
				t.Errorf("%s is a rate", tt.text)
			}
			continue
		}
		if d := r.At(tt.n) - tt.at; err != nil || d.Abs() > time.Microsecond {
			t.Errorf("%s: operation %d at %v, want %v (%v)", tt.text, tt.n, r.At(tt.n), tt.at, err)
		}
		for n := int64(1); n < 4000; n++ {
			if r.At(n) < r.At(n-1) {
				t.Fatalf("%s: operation %d is before the one before", tt.text, n)
			}
		}
	}
}

func TestStampsAreReadBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	for _, n := range []int{stampLen, stampLen + 1, 100, 5000} {
		s := Stamp{rnd.Uint64(), rnd.Uint32(), rnd.Uint64()}
		v := s.append([]byte("before"), n)[len("before"):]
		if got, err := ReadStamp(v); err != nil || got != s || len(v) != n {
			t.Errorf("%d bytes: %+v, %v", len(v), got, err)
		}
		for range 200 {
			bad := bytes.Clone(v)
			bad[rnd.IntN(n)] ^= 1 << rnd.IntN(8)
			if got, err := ReadStamp(bad); !errors.Is(err, ErrCorrupt) && got != s {
				t.Fatalf("%q is taken for %+v", bad, got)
			}
		}
		for _, bad := range [][]byte{v[:n-1], append(bytes.Clone(v), 'a'), nil, v[:stampLen-1]} {
			if _, err := ReadStamp(bad); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%d of %d bytes are taken for a value", len(bad), n)
			}
		}
	}
}

func config(t *testing.T) *Config {
	c := &Config{
		Seed: 4, Clients: 3, Keys: 500, Prefix: "key:",
		Choice: must[Choice](t)(ParseChoice("zipf")), Sizes: must[Sizes](t)(ParseSizes("48..100")), TTL: must[TTL](t)(ParseTTL("1s..2s")),
		Mix:     must[Mix](t)(ParseMix("5 get; 3 set; 1 mget 3; 1 hset __key__ field __data__; 1 INCR; 1 ping")),
		Rate:    must[Rate](t)(ParseRate("100..200 over 1s")),
		Stamped: true,
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return c
}

// A client's operations follow from the seed and its number alone.
func TestSameSeedGivesSameOperations(t *testing.T) {
	cfg := config(t)
	a, b, other := cfg.Client(1), cfg.Client(1), cfg.Client(2)
	same := 0
	for i := range 2000 {
		x, y := a.Next(), b.Next()
		if !slices.EqualFunc(x.Args, y.Args, bytes.Equal) || x.At != y.At || x.Write != y.Write {
			t.Fatalf("operation %d: %q and %q", i, x.Args, y.Args)
		}
		if slices.EqualFunc(x.Args, other.Next().Args, bytes.Equal) {
			same++
		}
	}
	if same > 400 {
		t.Errorf("%d of 2000 operations are those of another client", same)
	}
}

func TestOperationsFollowTheMix(t *testing.T) {
	cfg := config(t)
	c := cfg.Client(0)
	counts := make([]int64, len(cfg.Mix.Commands))
	writes := uint64(0)
	for i := range int64(60_000) {
		o := c.Next()
		counts[o.Command]++
		if o.At != cfg.Rate.At(3*i) {
			t.Fatalf("operation %d at %v", i, o.At)
		}
		command := &cfg.Mix.Commands[o.Command]
		if command.Writes {
			writes++
		}
		if command.Writes != (o.Write > 0) || command.Writes && o.Write != writes || len(o.Keys) != command.Keys {
			t.Fatalf("%+v of %+v", o, command)
		}
		for _, key := range o.Keys {
			if name := cfg.AppendKey(nil, key); !slices.ContainsFunc(o.Args, func(a []byte) bool { return bytes.Equal(a, name) }) {
				t.Fatalf("%q has no %s", o.Args, name)
			}
		}
		if command.Name == "SET" {
			s, err := ReadStamp(o.Args[2])
			if err != nil || s.Key != uint64(o.Keys[0]) || s.Client != 0 || s.Write != writes || len(o.Args[2]) > 100 {
				t.Fatalf("%q: %+v, %v", o.Args, s, err)
			}
			if len(o.Args) != 5 || string(o.Args[3]) != "PX" || string(o.Args[4]) < "1000" || string(o.Args[4]) > "2000" {
				t.Fatalf("%q", o.Args)
			}
		}
	}
	fits(t, "mix", counts, func(k int) float64 { return float64(cfg.Mix.Commands[k].Weight) / 12 })
}

func TestClientAllocatesNothing(t *testing.T) {
	c := config(t).Client(0)
	for range 1000 {
		c.Next()
	}
	if n := testing.AllocsPerRun(2000, func() { c.Next() }); n > 0 {
		t.Errorf("%v allocations an operation", n)
	}
}

func TestParseErrorNamesTheColumn(t *testing.T) {
	for _, tt := range []struct {
		parse func(string) error
		of    error
		text  string
		at    string
	}{
		{choiceError, ErrChoice, "", "column 1: "},
		{choiceError, ErrChoice, "  zip", "column 3: "},
		{choiceError, ErrChoice, "zipf 0", "column 6: "},
		{choiceError, ErrChoice, "zipf 11", "column 6: "},
		{choiceError, ErrChoice, "zipf nan", "column 6: "},
		{choiceError, ErrChoice, "uniform 2", "column 9: "},
		{choiceError, ErrChoice, "hotspot 5%", "column 1: "},
		{choiceError, ErrChoice, "hotspot 5% 80", "column 12: "},
		{choiceError, ErrChoice, "hotspot 0% 80%", "column 9: "},
		{choiceError, ErrChoice, "hotspot 5% 80% 1%", "column 16: "},
		{mixError, ErrMix, " ; ", "column 1: "},
		{mixError, ErrMix, "get", "column 1: "},
		{mixError, ErrMix, "80 get; 20", "column 9: "},
		{mixError, ErrMix, "80 get; 0 set", "column 9: "},
		{mixError, ErrMix, "80 get; 20 hset", "column 12: "},
		{mixError, ErrMix, "80 get; 20 mget 0", "column 17: "},
		{mixError, ErrMix, "20 mget 1001", "column 9: "},
		{mixError, ErrMix, "20 mget", "column 4: "},
		{mixError, ErrMix, strings.Repeat(" ", maxMixLen) + "x", "column 16384: "},
		{sizesError, ErrSizes, "", "column 1: "},
		{sizesError, ErrSizes, "big", "column 1: "},
		{sizesError, ErrSizes, "10..", "column 5: "},
		{sizesError, ErrSizes, "10..9", "column 5: "},
		{sizesError, ErrSizes, "1g", "column 1: "},
		{sizesError, ErrSizes, "10 20", "column 4: "},
		{sizesError, ErrSizes, "exp", "column 1: "},
		{sizesError, ErrSizes, "exp 0", "column 5: "},
		{sizesError, ErrSizes, "lognormal 5 11", "column 13: "},
		{ttlError, ErrTTL, "1", "column 1: "},
		{ttlError, ErrTTL, "1s..500ms", "column 5: "},
		{ttlError, ErrTTL, "1us", "column 1: "},
		{ttlError, ErrTTL, "1s 2s", "column 4: "},
		{rateError, ErrRate, "0", "column 1: "},
		{rateError, ErrRate, "5 over 3s", "column 3: "},
		{rateError, ErrRate, "5..", "column 4: "},
		{rateError, ErrRate, "5..10", "column 1: "},
		{rateError, ErrRate, "5..10 in 3s", "column 1: "},
		{rateError, ErrRate, "5..10 over 3", "column 12: "},
	} {
		err := tt.parse(tt.text)
		if !errors.Is(err, tt.of) || !strings.Contains(err.Error(), tt.at) {
			t.Errorf("%.40q: %v, want %s", tt.text, err, tt.at)
		}
	}
}

func choiceError(s string) error { _, err := ParseChoice(s); return err }
func mixError(s string) error    { _, err := ParseMix(s); return err }
func sizesError(s string) error  { _, err := ParseSizes(s); return err }
func ttlError(s string) error    { _, err := ParseTTL(s); return err }
func rateError(s string) error   { _, err := ParseRate(s); return err }

func TestSenselessWorkloadIsRefused(t *testing.T) {
	err := (&Config{Clients: MaxClients + 1, Stamped: true}).Validate()
	for _, what := range []string{"clients", "keys", "mix", "48 bytes"} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v does not tell of %s", err, what)
		}
	}
}

func TestCommandKeepsItsSpelling(t *testing.T) {
	m := must[Mix](t)(ParseMix("1 get; 1 mget 3; 1 hset __key__ field __data__; 1 del; 1 del 2; 1 ping; 1 mset 2; 1 get __key__"))
	want := []string{"GET", "MGET 3", "HSET __key__ field __data__", "DEL", "DEL 2", "PING", "MSET 2", "GET"}
	for i := range m.Commands {
		if got := m.Commands[i].String(); got != want[i] {
			t.Errorf("%s, want %s", got, want[i])
		}
	}
}

// Names that are given are the keys.
func TestKeysMayHaveNames(t *testing.T) {
	cfg := config(t)
	cfg.Names = [][]byte{[]byte("a"), []byte("b"), {0, '\n'}}
	seen := map[string]bool{}
	for c := cfg.Client(0); len(seen) < 3; {
		for _, key := range c.Next().Keys {
			seen[string(cfg.AppendKey(nil, key))] = true
		}
	}
	if !seen["a"] || !seen["b"] || !seen["\x00\n"] {
		t.Error(seen)
	}
}

// Whatever is typed is read or refused, and what is read can be asked for.
func FuzzParse(f *testing.F) {
	f.Add("80 get; 20 set", "zipf 1.2", "10..20", "100..200 over 3s", "1s..2s")
	f.Add("1 hset __key__ f __data__; 2 mset 3", "hotspot 1% 99%", "exp 10", "5", "")
	f.Fuzz(func(t *testing.T, mix, choice, sizes, rate, ttl string) {
		cfg := &Config{Clients: 2, Keys: 7, Prefix: "k"}
		var err [5]error
		cfg.Mix, err[0] = ParseMix(mix)
		cfg.Choice, err[1] = ParseChoice(choice)
		cfg.Sizes, err[2] = ParseSizes(sizes)
		cfg.Rate, err[3] = ParseRate(rate)
		cfg.TTL, err[4] = ParseTTL(ttl)
		if errors.Join(err[:]...) != nil || cfg.Validate() != nil || cfg.Sizes.most > 1<<16 && cfg.Sizes.kind != exponential || cfg.Sizes.mean > 1<<12 || cfg.Sizes.sigma > 1 {
			return
		}
		c := cfg.Client(1)
		at := time.Duration(0)
		for range 20 {
			o := c.Next()
			if o.At < at {
				t.Errorf("at %v after %v", o.At, at)
			}
			at = o.At
			for _, key := range o.Keys {
				if key < 0 || key >= 7 {
					t.Errorf("key %d", key)
				}
			}
		}
	})
}

func TestPlainCommandsAreThoseWithTheUsualArguments(t *testing.T) {
	for text, want := range map[string]bool{
		"1 get": true, "1 set": true, "1 set __key__ __data__": true, "1 mset 3": true, "1 mget __key__": true, "1 ping": true,
		"1 mset __key__ __data__ __key__ __data__": true, "1 exists 4": true, "1 unlink": true,
		"1 set __key__ hello": false, "1 set __key__ __data__ EX 10": false, "1 get x": false, "1 mset __key__ __data__ __key__ x": false,
		"1 mset __data__ __key__": false, "1 hset __key__ f __data__": false, "1 ping __data__": false, "1 mset __key__": false,
		"1 get __key__ __key__": false,
	} {
		m, err := ParseMix(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Commands[0].Plain; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestFillersWriteTheirKeys(t *testing.T) {
	mix, err := ParseMix("1 get; 1 set")
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := ParseSizes("60")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Seed: 1, Clients: 7, Keys: 100, Prefix: "p:", Mix: mix, Sizes: sizes, Stamped: true}
	f := cfg.Filler(2)
	for i, key := range []int64{5, 99, 5} {
		op := f.Write(key)
		s, err := ReadStamp(op.Args[2])
		if err != nil || s != (Stamp{Key: uint64(key), Client: 9, Write: uint64(i + 1)}) || op.Write != s.Write {
			t.Errorf("%+v, %v", s, err)
		}
		if string(op.Args[0]) != "SET" || string(op.Args[1]) != string(cfg.AppendKey(nil, key)) || len(op.Args[2]) != 60 {
			t.Errorf("%q", op.Args)
		}
	}
	if cfg.Mix, err = ParseMix("1 get; 1 incr"); err != nil {
		t.Fatal(err)
	}
	if op := cfg.Filler(0).Write(1); string(op.Args[2]) != "0" {
		t.Errorf("a counter begins with %q", op.Args[2])
	}
}

func TestStampsAreCheckedWithoutMemory(t *testing.T) {
	v := Stamp{Key: 7, Client: 3, Write: 9}.append(nil, 100)
	raw, err := hex.DecodeString(string(v[:stampLen]))
	if err != nil {
		t.Fatal(err)
	}
	sum := binary.BigEndian.Uint32(raw[20:])
	binary.BigEndian.PutUint32(raw[20:], 100)
	if want := crc32.Checksum(raw, castagnoli); sum != want {
		t.Errorf("checksum %x, want %x", sum, want)
	}
	n := testing.AllocsPerRun(100, func() {
		if _, err := ReadStamp(v); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
