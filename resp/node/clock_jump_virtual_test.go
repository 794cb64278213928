package node

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// Expiry is by the clock on the wall, as in Redis: a clock that is set ahead makes keys expire
// that have less time left, and those stay gone. Nothing else is lost by it, whichever clock a
// failover leads to, and copies stay alike.
func TestExpiryWhenClocksAreSet(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		set := func(id string, to time.Duration) {
			c.nodes[id].store.SetSkew(to)
			c.say("the clock of %s is set to %v", id, to)
		}
		c.backed()
		primaryOf := func(key string) string {
			cl := c.nodes["b"].cluster
			row, _ := cl.table.State().Row(cl.strategy.Token([]byte(key)))
			return row.Primary
		}
		const least, short, long = 30 * time.Minute, 50 * time.Minute, 3 * time.Hour
		type key struct {
			name string
			life time.Duration // 0: for ever
		}
		keys := make(map[string][]key) // by their first primary
		client := c.client("b")
		defer client.Close()
		bg := context.Background()
		write := func(k key) {
			if err := client.Set(bg, k.name, "v", k.life).Err(); err != nil {
				t.Fatal(err)
			}
		}
		lives := []time.Duration{0, least, short, long}
		for i := range 120 {
			name := fmt.Sprint("key", i)
			k := key{name, lives[i%len(lives)]}
			owner := primaryOf(name)
			keys[owner] = append(keys[owner], k)
			write(k)
		}
		// there reads what is left of keys through every node, which must agree.
		there := func(k key) bool {
			var first string
			for i, id := range c.running() {
				through := c.client(id)
				v, err := through.Get(bg, k.name).Result()
				_ = through.Close()
				if err != nil && !errors.Is(err, redis.Nil) {
					t.Fatalf("%s through %s: %v", k.name, id, err)
				}
				if i > 0 && v != first {
					t.Errorf("%s is %q, and through %s %q", k.name, first, id, v)
				}
				first = v
			}
			return first != ""
		}
		check := func(when string, gone time.Duration, ids ...string) {
			t.Helper()
			for _, id := range ids {
				for _, k := range keys[id] {
					if want := k.life == 0 || k.life > gone; there(k) != want {
						t.Errorf("%s: %s of %s, which had %v left: there is %v", when, k.name, id, k.life, !want)
					}
				}
			}
		}
		// Each expiry is found by a read before it is looked at from elsewhere.
		set("a", time.Hour)
		check("a is ahead", time.Hour, "a")
		check("a is ahead", 0, "b", "c")
		set("a", 0)
		check("a is set back", time.Hour, "a")
		check("a is set back", 0, "b", "c")
		set("a", time.Hour)
		c.crash("a") // its ranges go to clocks that are an hour behind its own
		time.Sleep(10 * time.Second)
		check("a is away", time.Hour, "a")
		check("a is away", 0, "b", "c")
		c.start("a", "b")
		set("a", -time.Hour)
		c.copied(1)
		check("a is back, behind", time.Hour, "a")
		check("a is back, behind", 0, "b", "c")
		// What is written under a clock that is behind is there under one that is not, if it
		// has more time left than that.
		var late []key
		for i := 1000; len(late) < 5; i++ {
			if name := fmt.Sprint("key", i); primaryOf(name) == "a" {
				late = append(late, key{name, long})
				write(late[len(late)-1])
			}
		}
		c.alike()
		c.crash("a")
		time.Sleep(10 * time.Second)
		for _, k := range late {
			left, err := client.TTL(bg, k.name).Result()
			if err != nil || left < long-time.Hour-time.Minute || left > long-time.Hour {
				t.Errorf("%s has %v left, %v", k.name, left, err)
			}
		}
		check("a is away again", time.Hour, "a")
		c.start("a", "b")
		c.copied(1)
		c.alike()
		c.close()
	})
}
