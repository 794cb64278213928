package wire_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/resp/wire"
)

// TestNumbersAreThoseOfRedis gives random texts to commands that read integers,
// doubles and long doubles.
func TestNumbersAreThoseOfRedis(t *testing.T) {
	c := redistest.Client(&redis.Options{Addr: redistest.Start7(t), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	ctx := context.Background()
	seed := randomtest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))

	texts := append(append(edges(), notInts...),
		"1e309", "1.7976931348623158e308", "4.9e-324", "2.4e-324", "2.5e-324", "0x1p-1074", "0x1p-1075")
	for range randomtest.Length(10_000, 500) {
		texts = append(texts, randomNumeral(r))
	}
	for len(texts) > 0 {
		batch := texts[:min(200, len(texts))]
		texts = texts[len(batch):]
		pipe := c.Pipeline()
		ints := make([]*redis.Cmd, len(batch))
		floats := make([]*redis.Cmd, len(batch))
		scores := make([]*redis.StringCmd, len(batch))
		for i, text := range batch {
			pipe.Del(ctx, "i", "z")
			ints[i] = pipe.Do(ctx, "INCRBY", "i", text)
			floats[i] = pipe.Do(ctx, "ZADD", "z", text, "m")
			scores[i] = redis.NewStringCmd(ctx, "ZSCORE", "z", "m")
			pipe.Process(ctx, scores[i])
		}
		pipe.Exec(ctx) // errors are expected, one by one
		for i, text := range batch {
			n, ok := wire.ParseInt([]byte(text))
			if want, err := ints[i].Int64(); ok != (err == nil) || ok && n != want {
				t.Errorf("%q: %d, %t, Redis: %v", text, n, ok, ints[i])
			}
			f, ok := wire.ParseFloat([]byte(text))
			if ok != (floats[i].Err() == nil) {
				t.Errorf("%q: %v, %t, Redis: %v", text, f, ok, floats[i])
				continue
			}
			if !ok {
				continue
			}
			// Seventeen digits tell all doubles apart; ZADD makes -0 a 0.
			if want, err := strconv.ParseFloat(scores[i].Val(), 64); err != nil || math.Float64bits(f+0) != math.Float64bits(want+0) {
				t.Errorf("%q: %v, Redis: %v", text, f, scores[i])
			}
		}
	}
}

// TestAddFloatIsThatOfRedis compares the text, or the error, of INCRBYFLOAT.
func TestAddFloatIsThatOfRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "386" {
		t.Skip("here Redis has another long double than on x86")
	}
	c := redistest.Client(&redis.Options{Addr: redistest.Start7(t), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	ctx := context.Background()
	seed := randomtest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))

	type sum struct {
		old, incr string
		cmd       *redis.Cmd
	}
	var sums []sum
	for _, old := range edges() {
		for _, incr := range edges() {
			sums = append(sums, sum{old: old, incr: incr})
		}
	}
	for range 10_000 {
		sums = append(sums, sum{old: randomNumeral(r), incr: randomNumeral(r)})
	}
	total, differ, numbers := len(sums), 0, 0
	for len(sums) > 0 {
		batch := sums[:min(200, len(sums))]
		sums = sums[len(batch):]
		pipe := c.Pipeline()
		for i, s := range batch {
			pipe.Set(ctx, "f", s.old, 0)
			batch[i].cmd = pipe.Do(ctx, "INCRBYFLOAT", "f", s.incr)
		}
		pipe.Exec(ctx) // errors are expected, one by one
		for _, s := range batch {
			got, err := wire.AddFloat([]byte(s.old), []byte(s.incr))
			want, wantErr := s.cmd.Text()
			switch {
			case err != nil && wantErr != nil && err.Error() == wantErr.Error():
			case err == nil && wantErr == nil && string(got) == want:
				numbers++
			default:
				differ++
				t.Errorf("%.60s + %.60s: %q, %v, Redis: %q, %v", s.old, s.incr, got, err, want, wantErr)
			}
		}
	}
	t.Logf("%d of %d are not those of Redis; %d were numbers", differ, total, numbers)
}
