package resp

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/ringside-kv/ringside/store/redistest"
)

// Distances that STOREDIST stores are those of Redis to the last bit, but for some in a thousand,
// where the functions of Redis' C library do not return the nearest number.
func TestStoredDistancesAreThoseOfRedis(t *testing.T) {
	o := dialRedis(t, redistest.Start7(t), 2)
	// Always the same: one cosine that the C library rounds wrongly is in a thousand distances.
	rnd := rand.New(rand.NewPCG(7, 0))
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	const points, centers = 1000, 110
	places := make(map[string]point, points)
	add := []string{"GEOADD", "g"}
	for i := range points {
		p := point{rnd.Float64()*360 - 180, rnd.Float64()*170 - 85}
		if i%2 == 0 { // one town
			p = point{13 + rnd.Float64()/10, 38 + rnd.Float64()/10}
		}
		member := fmt.Sprint("m", i)
		add = append(add, number(p.longitude), number(p.latitude), member)
		places[member] = p.hash(geoSteps).center()
	}
	o.do(add...)
	pairs, differ := 0, 0
	for i := range centers {
		center := fmt.Sprint("m", i)
		o.do("GEORADIUSBYMEMBER", "g", center, "30000000", "m", "STOREDIST", "out")
		stored := o.do("ZRANGE", "out", "0", "-1", "WITHSCORES").elems
		for ; len(stored) > 1; stored = stored[2:] {
			want, err := strconv.ParseFloat(stored[1].text, 64)
			if err != nil {
				t.Fatal(err)
			}
			got := distance(places[center], places[stored[0].text])
			if pairs++; got != want {
				differ++
			}
			if off := got - want; off > 1 || off < -1 {
				t.Fatalf("from %v to %v it is %v, want %v", places[center], places[stored[0].text], got, want)
			}
		}
	}
	t.Logf("%d of %d distances differ", differ, pairs)
	if pairs < 100_000 || differ > pairs/20 {
		t.Errorf("%d of %d distances differ", differ, pairs)
	}
}
