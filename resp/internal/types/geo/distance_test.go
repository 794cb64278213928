package geo

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/ringside-kv/ringside/internal/redistest"
)

// Distances that STOREDIST stores are those of Redis to the last bit, but for some in a thousand,
// where the functions of Redis' C library do not return the nearest number.
func TestStoredDistancesAreThoseOfRedis(t *testing.T) {
	c := redistest.Client(&redis.Options{Addr: redistest.Start7(t), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	ctx := t.Context()
	// Always the same: one cosine that the C library rounds wrongly is in a thousand distances.
	rnd := rand.New(rand.NewPCG(7, 0))
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	const points, centers = 1000, 110
	places := make(map[string]point, points)
	add := []any{"GEOADD", "g"}
	for i := range points {
		p := point{rnd.Float64()*360 - 180, rnd.Float64()*170 - 85}
		if i%2 == 0 { // one town
			p = point{13 + rnd.Float64()/10, 38 + rnd.Float64()/10}
		}
		member := fmt.Sprint("m", i)
		add = append(add, number(p.longitude), number(p.latitude), member)
		places[member] = p.hash(geoSteps).center()
	}
	if err := c.Do(ctx, add...).Err(); err != nil {
		t.Fatal(err)
	}
	pairs, differ := 0, 0
	for i := range centers {
		center := fmt.Sprint("m", i)
		if err := c.Do(ctx, "GEORADIUSBYMEMBER", "g", center, "30000000", "m", "STOREDIST", "out").Err(); err != nil {
			t.Fatal(err)
		}
		stored, err := c.ZRangeWithScores(ctx, "out", 0, -1).Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range stored {
			want := member.Score
			got := distance(places[center], places[member.Member.(string)])
			if pairs++; got != want {
				differ++
			}
			if off := got - want; off > 1 || off < -1 {
				t.Fatalf("from %v to %v it is %v, want %v", places[center], places[member.Member.(string)], got, want)
			}
		}
	}
	t.Logf("%d of %d distances differ", differ, pairs)
	if pairs < 100_000 || differ > pairs/100 {
		t.Errorf("%d of %d distances differ", differ, pairs)
	}
}
