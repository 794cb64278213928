package resp

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// A cacheUser reads keys, and writes those that it does not find, as an application with a cache does.
type cacheUser struct {
	o           *resptest.Conn
	value       string
	reads, hits int
}

func (u *cacheUser) read(keys []string) {
	cmds := make([][]string, len(keys))
	for i, key := range keys {
		cmds[i] = []string{"GET", key}
	}
	var missing [][]string
	for i, v := range u.o.DoAll(cmds) {
		if v.Kind == '_' || v.Text == "" {
			missing = append(missing, []string{"SET", keys[i], u.value})
		} else {
			u.hits++
		}
	}
	u.reads += len(keys)
	for i, v := range u.o.DoAll(missing) {
		if v.Text != "OK" {
			u.o.T.Fatalf("%q: %s", missing[i][1], v)
		}
	}
}

// TestHitRatioIsThatOfRedis reads by a Zipf distribution from ten times as much data as fits, also while a
// scan reads keys that are not read again.
func TestHitRatioIsThatOfRedis(t *testing.T) {
	randomtest.Draw(t, 6)
	if testing.Short() {
		t.Skip("one client: nothing for the race detector")
	}
	const size, pipeline = 1000, 50
	reads := randomtest.Length(720_000, 0)
	fits := reads / 30
	redisAddr := redistest.Start7(t)
	for _, policy := range []string{"allkeys-lru", "allkeys-lfu"} {
		for _, scan := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s scan=%t", policy, scan), func(t *testing.T) {
				redis := resptest.Dial(t, redisAddr, 2)
				_, ours := evictServer(t, strconv.Itoa(fits*size), policy)
				redis.Want("+OK", "FLUSHALL")
				empty := redis.InfoField("used_memory", "INFO", "memory")
				redis.Want("+OK", "CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", strconv.Itoa(empty+fits*size))
				value := strings.Repeat("v", size-10)
				users := []*cacheUser{{o: redis, value: value}, {o: ours, value: value}}
				rnd := rand.New(rand.NewPCG(1, 2))
				zipf := rand.NewZipf(rnd, 1.05, 1, uint64(10*fits-1))
				scanned := 0
				keys := make([]string, pipeline)
				for done := 0; done < reads; done += pipeline {
					for i := range keys {
						if scan && i%4 == 0 {
							scanned++
							keys[i] = fmt.Sprintf("scan:%d", scanned)
							continue
						}
						keys[i] = fmt.Sprintf("key:%d", zipf.Uint64())
					}
					for _, u := range users {
						if u.read(keys); done < reads/3 {
							u.reads, u.hits = 0, 0 // until it is full
						}
					}
				}
				ratio := func(u *cacheUser) float64 { return 100 * float64(u.hits) / float64(u.reads) }
				theirs, own := ratio(users[0]), ratio(users[1])
				t.Logf("hits: Redis %.2f %% with %s keys, here %.2f %% with %s keys", theirs, redis.Do("DBSIZE").Text, own, ours.Do("DBSIZE").Text)
				if own < theirs-2 {
					t.Errorf("%.2f %% of reads hit, %.2f %% in Redis", own, theirs)
				}
			})
		}
	}
}
