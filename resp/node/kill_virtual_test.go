package node

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/store"
)

// Whoever is killed is missed as one whose machine has lost power: nobody hears anything more
// of it, the others take over, what was acknowledged is there, and it goes on from its
// directory.
func TestKillIsALossOfPower(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		rnd := rand.New(rand.NewPCG(seed, 3))
		keys := someKeys(60)
		c.write("a", keys, 1)
		for round := range turns(3) {
			victim := c.running()[rnd.IntN(3)]
			c.say("%s is killed, %s leads", victim, c.leader())
			others := slices.DeleteFunc(c.running(), func(id string) bool { return id == victim })
			v := c.nodes[victim]
			before := ownPrimaries(v)
			began := time.Now()
			var kill sync.WaitGroup
			kill.Go(v.Kill) // while others write
			if took := c.write(others[rnd.IntN(2)], keys, 2+round); took > 5*time.Second {
				t.Errorf("writes took %v", took)
			}
			kill.Wait()
			if took := time.Since(began); before > 0 && took < time.Second {
				t.Errorf("others served its ranges after %v: it was not killed, it said goodbye", took)
			}
			if client := c.client(victim); client.Ping(context.Background()).Err() == nil {
				t.Error("it answers")
			} else {
				_ = client.Close()
			}
			select {
			case <-v.Done():
			default:
				t.Error("it is not done")
			}
			if err := v.Err(); err != nil {
				t.Error(err)
			}
			if v.run.Stopped {
				t.Error("it has noted that everything is durable")
			}
			if !errors.Is(v.store.Writable(), store.ErrCrashed) {
				t.Error("its disk has taken all that it had")
			}
			if err := v.Close(); err != nil {
				t.Errorf("after Kill: %v", err)
			}
			v.Node = nil
			c.read(keys)
			c.start(victim, c.running()...)
			c.copied(1)
			c.read(keys)
		}
		c.close()
	})
}

// ownPrimaries counts the ranges that a node serves, as it knows.
func ownPrimaries(v *virtualNode) int { return v.primaries()[v.id] }

// Whatever is under way when a node is killed: what was acknowledged before is there.
func TestKillWhileClientsWrite(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		var writers sync.WaitGroup
		keys := someKeys(40)
		ctx, stop := context.WithCancel(context.Background())
		for key, w := range keys {
			client := c.client("b") // the victim
			writers.Go(func() {
				defer client.Close()
				for value := 1; ctx.Err() == nil; value++ {
					if client.Set(ctx, key, value, 0).Err() == nil {
						w.acked, w.unknown = value, nil
						continue
					}
					w.unknown = append(w.unknown, value)
					if len(w.unknown) > 3 {
						return
					}
				}
			})
		}
		time.Sleep(300 * time.Millisecond)
		v := c.nodes["b"]
		v.Kill()
		v.Node = nil
		time.Sleep(time.Second)
		stop()
		writers.Wait()
		acked := 0
		for _, w := range keys {
			acked += w.acked
		}
		if acked == 0 {
			t.Error("nothing was written")
		}
		c.read(keys)
		c.start("b", c.running()...)
		c.copied(1)
		c.read(keys)
		c.close()
	})
}

// Whoever waits for an answer of a node that is killed gets none.
func TestKilledNodeSaysNothing(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.ForwardTimeout = 10 * time.Minute })
		c.backed()
		key := c.keyAt("c", "b")
		client := c.client("c")
		defer client.Close()
		if err := client.Set(t.Context(), key, 0, 0).Err(); err != nil {
			t.Fatal(err)
		}
		c.net.Freeze(c.nodes["b"].ip, true)
		waits := make(chan error, 1)
		go func() { waits <- client.Incr(t.Context(), key).Err() }()
		time.Sleep(100 * time.Millisecond)
		c.nodes["c"].Kill()
		c.nodes["c"].Node = nil
		if err := <-waits; err == nil || strings.HasPrefix(err.Error(), "UNKNOWN ") {
			t.Errorf("it still says: %v", err)
		}
		c.net.Freeze(c.nodes["b"].ip, false)
		c.close()
	})
}
