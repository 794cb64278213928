package resp

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A cachingSetup is a server or a cluster, a library's way to it, and another client's.
type cachingSetup struct {
	name   string
	addrs  []string // the library's
	single bool     // it talks to the first only
	others []string // through which keys change
	keys   []string
	srvs   []*Server
	move   func() // has other nodes serve the keys; nil on one node
}

// cachingSetups are a lone node, a cluster through one node that has not all keys, and one
// whose slots the library knows.
func cachingSetups(t *testing.T) (all []cachingSetup) {
	srv, addr := serveTest(t, nil)
	all = append(all, cachingSetup{"one node", []string{addr}, true, []string{addr}, []string{"k1", "k2", "k3"}, []*Server{srv}, nil})
	for _, single := range []bool{true, false} {
		r := routedOver(t, 3, true, func(c *Config, sc *store.Config) { c.Slots, sc.Hash, sc.Token = true, "slot", ring.SlotToken })
		first, turn := 0, func(by int) {
			var rows []ring.Row
			for i := range 3 {
				start, end := ring.Token(i)<<30, ring.Token(i+1)<<30
				if i == 2 {
					end = 0
				}
				rows = append(rows, ring.Row{Range: ring.Range{Start: start, End: end}, Primary: fmt.Sprint("n", (i+by)%3)})
			}
			p, err := ring.NewPlacement(rows)
			if err != nil {
				t.Fatal(err)
			}
			r.placeAll(p)
		}
		turn(0)
		s := cachingSetup{"a cluster through one node", r.addrs, single, r.addrs, make([]string, 3), r.servers, func() { first++; turn(first) }}
		if !single {
			s.name = "a cluster by its slots"
		}
		for i := 0; s.keys[0] == "" || s.keys[1] == "" || s.keys[2] == ""; i++ {
			key := fmt.Sprint("k", i)
			s.keys[min(r.token([]byte(key))>>30, 2)] = key
		}
		all = append(all, s)
	}
	return all
}

// TestCachingOfRueidis keeps what is read, in all of the library's ways, until it changes.
func TestCachingOfRueidis(t *testing.T) {
	randomtest.DrawShort(t, 4)
	for _, s := range cachingSetups(t) {
		for _, options := range [][]string{nil, {"BCAST", "PREFIX", "k"}} {
			t.Run(fmt.Sprint(s.name, options), func(t *testing.T) {
				addrs := s.addrs
				if s.single {
					addrs = addrs[:1]
				}
				c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: addrs, ForceSingleClient: s.single, ClientTrackingOptions: options})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				s.rueidis(t, c)
			})
		}
	}
}

func (s *cachingSetup) rueidis(t *testing.T, c rueidis.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), resptest.Patience)
	defer cancel()
	get := func(key string) (value string, hit bool) {
		t.Helper()
		v := c.DoCache(ctx, c.B().Get().Key(key).Cache(), time.Minute)
		value, err := v.ToString()
		if err != nil && !rueidis.IsRedisNil(err) {
			t.Fatal(err)
		}
		return value, v.IsCacheHit()
	}
	// kept reads a key until that is answered from the cache.
	kept := func(key, want string) {
		t.Helper()
		resptest.WaitFor(t, key+" to be cached", func() bool {
			value, hit := get(key)
			if hit && value != want {
				t.Fatalf("%s is cached as %q, want %q", key, value, want)
			}
			return hit
		})
	}
	becomes := func(why, key, want string) {
		t.Helper()
		resptest.WaitFor(t, why+": "+key+" to be read anew", func() bool { value, _ := get(key); return value == want })
	}
	n := 0
	for _, addr := range s.others {
		o := resptest.Dial(t, addr, 2)
		for _, key := range s.keys {
			n++
			before, after := fmt.Sprint("v", n), fmt.Sprint("w", n)
			o.Do("SET", key, before)
			becomes("before", key, before)
			kept(key, before)
			o.Do("SET", key, after)
			becomes("a change", key, after)
		}
	}
	o := resptest.Dial(t, s.others[0], 2)
	for i, key := range s.keys {
		o.Do("SET", key, fmt.Sprint(i))
		becomes("before", key, fmt.Sprint(i))
		kept(key, fmt.Sprint(i))
	}
	many, err := rueidis.MGetCache(c, ctx, time.Minute, s.keys)
	if err != nil || len(many) != len(s.keys) {
		t.Errorf("MGetCache: %v, %v", many, err)
	}
	var gets []rueidis.CacheableTTL
	for _, key := range s.keys {
		gets = append(gets, rueidis.CT(c.B().Get().Key(key).Cache(), time.Minute))
	}
	for i, v := range c.DoMultiCache(ctx, gets...) {
		if value, err := v.ToString(); err != nil || value != fmt.Sprint(i) {
			t.Errorf("DoMultiCache: %q, %v", value, err)
		}
	}
	for _, key := range s.keys {
		o.Do("PEXPIRE", key, "40")
		becomes("expiry", key, "")
		o.Do("SET", key, "x")
		becomes("after expiry", key, "x")
		kept(key, "x")
	}
	o.Do("FLUSHALL")
	for _, key := range s.keys {
		becomes("FLUSHALL", key, "")
		o.Do("SET", key, "here")
		becomes("after FLUSHALL", key, "here")
		kept(key, "here")
	}
	if s.move != nil { // to where they are not
		s.move()
		for _, key := range s.keys {
			becomes("other nodes serve them", key, "")
			o.Do("SET", key, "there")
			becomes("a change there", key, "there")
			kept(key, "there")
		}
	}
}

// TestCachingOfGoRedis keeps what is read until it changes, on every connection of a pool.
func TestCachingOfGoRedis(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), resptest.Patience)
	defer cancel()
	for _, s := range cachingSetups(t) {
		if !s.single {
			continue // which the library does not offer
		}
		cache := redis.NewLocalCache(redis.CacheConfig{MaxEntries: 100})
		c := redistest.Client(&redis.Options{Addr: s.addrs[0], Protocol: 3, ClientSideCache: cache})
		becomes := func(why, key, want string) {
			t.Helper()
			resptest.WaitFor(t, s.name+", "+why+": "+key+" to be read anew", func() bool {
				got, err := c.Get(ctx, key).Result()
				if err != nil && err != redis.Nil {
					t.Fatal(err)
				}
				return got == want
			})
		}
		for i, addr := range s.others {
			o := resptest.Dial(t, addr, 2)
			for _, key := range s.keys {
				o.Do("SET", key, fmt.Sprint("v", i))
				becomes("before", key, fmt.Sprint("v", i))
				resptest.WaitFor(t, s.name+": "+key+" to be cached", func() bool {
					_, err := c.Get(ctx, key).Result()
					return err == nil && cache.Len() > 0
				})
				o.Do("SET", key, fmt.Sprint("w", i))
				becomes("a change", key, fmt.Sprint("w", i))
			}
			o.Do("FLUSHALL")
			for _, key := range s.keys {
				becomes("FLUSHALL", key, "")
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
