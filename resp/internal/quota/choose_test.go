package quota

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/resp/internal/settings"
)

// TestColderIsAnOrder checks that colder is a strict weak order, by which the pool is sorted.
func TestColderIsAnOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func() candidate {
		return candidate{expiry: rnd.Int64N(3), cached: rnd.IntN(2) == 0, idle: rnd.Uint32N(3), uses: uint8(rnd.IntN(3))}
	}
	for p := range settings.Policies() {
		for range 2000 {
			a, b, c := random(), random(), random()
			ab, ba, bc, ac := colder(p, &a, &b), colder(p, &b, &a), colder(p, &b, &c), colder(p, &a, &c)
			if ab != -ba || ab <= 0 && bc <= 0 && ac > 0 {
				t.Fatalf("%s: %+v, %+v, %+v: %d %d %d %d", p, a, b, c, ab, ba, bc, ac)
			}
		}
	}
}

func TestColderGoesByPolicy(t *testing.T) {
	cold := candidate{cached: true, idle: 9, uses: 1, expiry: 1}
	warm := candidate{cached: true, idle: 3, uses: 5, expiry: 2}
	dropped := candidate{expiry: 3}
	seldom := candidate{cached: true, idle: 1, uses: 0, expiry: 4}
	for _, test := range []struct {
		p     settings.Policy
		order []candidate
	}{
		{settings.AllKeysLRU, []candidate{dropped, cold, warm, seldom}},
		{settings.VolatileLRU, []candidate{dropped, cold, warm, seldom}},
		{settings.AllKeysLFU, []candidate{dropped, seldom, cold, warm}},
		{settings.VolatileLFU, []candidate{dropped, seldom, cold, warm}},
		{settings.VolatileTTL, []candidate{cold, warm, dropped, seldom}},
	} {
		for i := range test.order[1:] {
			if colder(test.p, &test.order[i], &test.order[i+1]) >= 0 {
				t.Errorf("%s: %+v is not colder than %+v", test.p, test.order[i], test.order[i+1])
			}
		}
	}
}

func TestPoolKeepsColdest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var c pool
	var all []uint32
	for i := range 500 {
		idle := rnd.Uint32N(10_000)
		all = append(all, idle)
		one := candidate{key: fmt.Append(nil, i), cached: true, idle: idle, bytes: 10}
		c.add(settings.AllKeysLRU, []candidate{one, one})
	}
	slices.Sort(all)
	slices.Reverse(all)
	if len(c.all) != maxPool {
		t.Fatalf("%d candidates", len(c.all))
	}
	for _, test := range []struct {
		n     int
		bytes int64
		want  int
	}{{4, 1000, 4}, {8, 25, 3}, {1000, 1, 1}, {5, 0, 0}, {1000, 1 << 40, maxPool - 8}, {1, 1, 0}} {
		taken := c.take(test.n, test.bytes)
		if len(taken) != test.want {
			t.Fatalf("%d taken, want %d", len(taken), test.want)
		}
		for _, one := range taken {
			if one.idle != all[0] {
				t.Errorf("idle for %d, want %d", one.idle, all[0])
			}
			all = all[1:]
		}
	}
}
