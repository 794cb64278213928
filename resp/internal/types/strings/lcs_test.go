package strings

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// TestLCSOfTheDocumentation has the example on the page of the command.
func TestLCSOfTheDocumentation(t *testing.T) {
	a, b := []byte("ohmytext"), []byte("mynewtext")
	seq, ranges, err := lcs(a, b, 1<<20)
	if err != nil || string(seq) != "mytext" {
		t.Errorf("%q, %v", seq, err)
	}
	if want := []lcsRange{{4, 7, 5, 8}, {2, 3, 0, 1}}; !slices.Equal(ranges, want) {
		t.Errorf("%v, want %v", ranges, want)
	}
	if n := ranges[0].length(); n != 4 {
		t.Errorf("length %d", n)
	}
	if n, err := lcsLen(a, b, 1<<20); n != 6 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestLCSSmall(t *testing.T) {
	for _, c := range []struct {
		a, b, seq string
		ranges    []lcsRange
	}{
		{"", "", "", nil},
		{"", "abc", "", nil},
		{"abc", "", "", nil},
		{"a", "a", "a", []lcsRange{{0, 0, 0, 0}}},
		{"a", "b", "", nil},
		{"abc", "abc", "abc", []lcsRange{{0, 2, 0, 2}}},
		{"abcd", "cdab", "cd", []lcsRange{{2, 3, 0, 1}}},
		{"axb", "ayb", "ab", []lcsRange{{2, 2, 2, 2}, {0, 0, 0, 0}}},
		{"aaa", "aa", "aa", []lcsRange{{1, 2, 0, 1}}},
		{"aa", "aaa", "aa", []lcsRange{{0, 1, 1, 2}}},
		{"a\x00b", "\x00", "\x00", []lcsRange{{1, 1, 0, 0}}},
	} {
		seq, ranges, err := lcs([]byte(c.a), []byte(c.b), 1<<20)
		if err != nil || string(seq) != c.seq || !slices.Equal(ranges, c.ranges) {
			t.Errorf("%q, %q: %q, %v, %v", c.a, c.b, seq, ranges, err)
		}
	}
}

// TestLCSLimit: the limit counts what Redis' table would take.
func TestLCSLimit(t *testing.T) {
	a, b := []byte("abcdefghi"), []byte("abcd") // 10 × 5 × 4 bytes
	for limit, want := range map[int64]error{
		200: nil, math.MaxInt64: nil, 199: errLCSMemory, 0: errLCSMemory, -1: errLCSMemory,
	} {
		if _, _, err := lcs(a, b, limit); !errors.Is(err, want) {
			t.Errorf("limit %d: %v", limit, err)
		}
		if _, err := lcsLen(b, a, limit); !errors.Is(err, want) {
			t.Errorf("limit %d: length: %v", limit, err)
		}
	}
	if lcsFits(math.MaxInt, math.MaxInt, math.MaxInt64) || lcsFits(1<<32, 1<<32, math.MaxInt64) {
		t.Error("overflow")
	}
}

// However different the lengths are, no more is allocated than lcsMemory says.
func TestLCSTakesNoMoreThanItIsCharged(t *testing.T) {
	long, short := bytes.Repeat([]byte("ab"), 4<<20), bytes.Repeat([]byte("ba"), 1000)
	for _, c := range [][2][]byte{{long, []byte("a")}, {[]byte("a"), long}, {short, short}, {long[:64<<10], short}, {short, long[:64<<10]}} {
		a, b := c[0], c[1]
		charged := lcsMemory(int64(len(a)), int64(len(b)))
		for name, run := range map[string]func() error{
			"sequence": func() error { _, _, err := lcs(a, b, 1<<30); return err },
			"length":   func() error { _, err := lcsLen(a, b, 1<<30); return err },
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := run()
			runtime.ReadMemStats(&after)
			took := int64(after.TotalAlloc-before.TotalAlloc) + int64(len(a)+len(b))
			if err != nil || took > charged+32<<10 {
				t.Errorf("%s of %d and %d bytes: %d bytes, charged %d, %v", name, len(a), len(b), took, charged, err)
			}
		}
	}
}

// TestLCSProperties compares lengths with the definition, and checks that runs and
// sequence say the same.
func TestLCSProperties(t *testing.T) {
	seed := randomtest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 5000 {
		letters := 1 + r.IntN(5)
		a, b := lcsSample(r, r.IntN(14), letters), lcsSample(r, r.IntN(14), letters)
		seq, ranges, err := lcs(a, b, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if want := lcsNaive(a, b, map[[2]int]int{}); len(seq) != want {
			t.Errorf("%q, %q: %q, want %d bytes", a, b, seq, want)
		}
		if n, err := lcsLen(a, b, 1<<20); n != len(seq) || err != nil {
			t.Errorf("%q, %q: %q, length %d, %v", a, b, seq, n, err)
		}
		var joined []byte
		for i, run := range slices.Backward(ranges) {
			if !bytes.Equal(a[run.aFrom:run.aTo+1], b[run.bFrom:run.bTo+1]) {
				t.Errorf("%q, %q: run %v is not equal", a, b, run)
			}
			joined = append(joined, a[run.aFrom:run.aTo+1]...)
			if i > 0 && (ranges[i-1].aFrom <= run.aTo || ranges[i-1].bFrom <= run.bTo) {
				t.Errorf("%q, %q: runs overlap: %v", a, b, ranges)
			}
		}
		if !bytes.Equal(joined, seq) {
			t.Errorf("%q, %q: runs give %q, sequence %q", a, b, joined, seq)
		}
	}
}

// lcsNaive is the definition: for the last bytes of both, all that can be done.
func lcsNaive(a, b []byte, known map[[2]int]int) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	at := [2]int{len(a), len(b)}
	if n, ok := known[at]; ok {
		return n
	}
	a1, b1 := a[:len(a)-1], b[:len(b)-1]
	n := max(lcsNaive(a1, b, known), lcsNaive(a, b1, known))
	if a[len(a)-1] == b[len(b)-1] {
		n = max(n, lcsNaive(a1, b1, known)+1)
	}
	known[at] = n
	return n
}

func lcsSample(r *rand.Rand, n, letters int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + r.IntN(letters))
	}
	return b
}

func BenchmarkLCS(b *testing.B) {
	x, y := []byte(strings.Repeat("abcdefgh", 250)), []byte(strings.Repeat("hgfedcba", 250))
	b.Run("sequence", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			lcs(x, y, 1<<30)
		}
	})
	b.Run("length", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			lcsLen(x, y, 1<<30)
		}
	})
}
