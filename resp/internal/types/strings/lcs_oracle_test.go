package strings

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
)

// TestLCSIsThatOfRedis compares sequence, runs and length for random values.
func TestLCSIsThatOfRedis(t *testing.T) {
	c := redistest.Client(&redis.Options{Addr: redistest.Start7(t), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	ctx := context.Background()
	seed := randomtest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))

	const batch = 100
	for range 30 {
		var a, b [batch][]byte
		var seqs, idxs [batch]*redis.LCSCmd
		pipe := c.Pipeline()
		for i := range batch {
			letters, n := 1+r.IntN(6), 1+r.IntN(60)
			a[i], b[i] = lcsSample(r, r.IntN(n), letters), lcsSample(r, r.IntN(n), letters)
			pipe.Set(ctx, "a", a[i], 0)
			pipe.Set(ctx, "b", b[i], 0)
			seqs[i] = pipe.LCS(ctx, &redis.LCSQuery{Key1: "a", Key2: "b"})
			idxs[i] = pipe.LCS(ctx, &redis.LCSQuery{Key1: "a", Key2: "b", Idx: true, WithMatchLen: true})
		}
		if _, err := pipe.Exec(ctx); err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			seq, ranges, err := lcs(a[i], b[i], 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if want := seqs[i].Val().MatchString; string(seq) != want {
				t.Fatalf("%q, %q: %q, Redis has %q", a[i], b[i], seq, want)
			}
			theirs := idxs[i].Val()
			if int(theirs.Len) != len(seq) {
				t.Fatalf("%q, %q: %d, Redis has %d", a[i], b[i], len(seq), theirs.Len)
			}
			var want []lcsRange
			for _, m := range theirs.Matches {
				run := lcsRange{int(m.Key1.Start), int(m.Key1.End), int(m.Key2.Start), int(m.Key2.End)}
				if run.length() != int(m.MatchLen) {
					t.Fatalf("%v is %d bytes, %d in Redis", run, run.length(), m.MatchLen)
				}
				want = append(want, run)
			}
			if !slices.Equal(ranges, want) {
				t.Fatalf("%q, %q: %v, Redis has %v", a[i], b[i], ranges, want)
			}
		}
	}
}

// TestLCSLimitIsThatOfRedis finds the same border and the same words.
func TestLCSLimitIsThatOfRedis(t *testing.T) {
	c := redistest.Client(&redis.Options{Addr: redistest.Start7(t), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	ctx := context.Background()
	const limit = 1 << 20 // the least that Redis allows
	if err := c.ConfigSet(ctx, "proto-max-bulk-len", "1048576").Err(); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]bool{510: true, 511: true, 512: false} {
		v := make([]byte, n)
		c.Set(ctx, "v", v, 0)
		theirs := c.LCS(ctx, &redis.LCSQuery{Key1: "v", Key2: "v", Len: true}).Err()
		_, ours := lcsLen(v, v, limit)
		if (ours == nil) != want || (theirs == nil) != want {
			t.Errorf("%d bytes: %v, Redis: %v", n, ours, theirs)
		}
		if ours != nil && theirs != nil && ours.Error() != theirs.Error() {
			t.Errorf("%q, Redis: %q", ours, theirs)
		}
	}
}
