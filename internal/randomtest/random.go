package randomtest

import (
	"flag"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Seed returns what a test's random numbers come from, and notes it: that of
// RINGSIDE_TEST_SEED, to see a failure again, or another one each time.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("RINGSIDE_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	return seed
}

// DrawShort skips a test under -short, which is for the race detector, in all but one of n runs on
// average. It is for tests that take many seconds there and whose goroutines do what those of other
// tests do.
func DrawShort(t testing.TB, n int) {
	t.Helper()
	if testing.Short() && os.Getenv("RINGSIDE_TEST_SEED") == "" && rand.IntN(n) > 0 {
		t.Skipf("not drawn this time: one of %d runs has this test under -short", n)
	}
}

// Draw skips a test in all but one of n runs on average. It is for tests that take a second of
// processor time or more, beside which others look at the same code. go tool task test:all has them all,
// and so has every run that names a seed or, by -run, a test.
func Draw(t testing.TB, n int) {
	t.Helper()
	if os.Getenv("RINGSIDE_LONG") != "" || os.Getenv("RINGSIDE_TEST_ALL") != "" || os.Getenv("RINGSIDE_TEST_SEED") != "" {
		return
	}
	if run := flag.Lookup("test.run"); run != nil && run.Value.String() != "" {
		return
	}
	if rand.IntN(n) > 0 {
		t.Skipf("not drawn this time: one of %d runs has this test, and go tool task test:all", n)
	}
}

// Length is how many steps a random test takes: all of them with RINGSIDE_LONG, as in
// go tool task test:random, a twelfth of them by default, and few for the race detector.
// Each run has another seed, so that many short runs see as much as a few long ones.
func Length(all, few int) int {
	switch {
	case os.Getenv("RINGSIDE_LONG") != "":
		return all
	case testing.Short():
		return few
	}
	return max(all/12, few)
}
