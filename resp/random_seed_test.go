package resp

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// randomSeed returns what a test's random numbers come from, and notes it: that of
// RINGSIDE_TEST_SEED, to see a failure again, or another one each time.
func randomSeed(t testing.TB) uint64 {
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
