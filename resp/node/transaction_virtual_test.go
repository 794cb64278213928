package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/bus"
)

// A bank is accounts on one node, between which clients move money.
type bank struct{ tag string }

const (
	accounts = 4
	deposit  = 100
)

func (b bank) account(i int) string { return fmt.Sprintf("{%s}%d", b.tag, i) }

// counter is the key with the number of a client's moves.
func (b bank) counter(client string) string { return fmt.Sprintf("{%s}moves:%s", b.tag, client) }

func (b bank) all() (keys []string) {
	for i := range accounts {
		keys = append(keys, b.account(i))
	}
	return keys
}

// sum adds the accounts up as of one moment.
func (b bank) sum(ctx context.Context, client *redis.Client) (sum int, err error) {
	var values []*redis.StringCmd
	_, err = client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		for _, key := range b.all() {
			values = append(values, p.Get(ctx, key))
		}
		return nil
	})
	for _, v := range values {
		n, e := v.Int()
		sum, err = sum+n, errors.Join(err, e)
	}
	return sum, err
}

// move moves money from one account to another if neither changes meanwhile, and has a key
// say how many moves this client has made.
func (b bank) move(ctx context.Context, client *redis.Client, rnd *rand.Rand, name string, done int) error {
	from, to := b.account(rnd.IntN(accounts)), b.account(rnd.IntN(accounts))
	if from == to {
		to = "" // a move to nowhere is none
	}
	amount := 1 + rnd.IntN(9)
	return client.Watch(ctx, func(tx *redis.Tx) error {
		x, err := tx.Get(ctx, from).Int()
		if err != nil {
			return err
		}
		y := 0
		if to != "" {
			if y, err = tx.Get(ctx, to).Int(); err != nil {
				return err
			}
		}
		time.Sleep(time.Duration(rnd.IntN(30)) * time.Millisecond) // virtual
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			if to != "" {
				p.Set(ctx, from, x-amount, 0)
				p.Set(ctx, to, y+amount, 0)
			}
			p.Set(ctx, b.counter(name), done, 0)
			return nil
		})
		return err
	}, from, b.account(0), b.account(1), b.account(2), b.account(3))
}

// Money that clients move between accounts through all nodes, each by what it has read, is
// all there whenever somebody looks, and no move that was acknowledged is lost, while nodes
// come, die and leave.
func TestTransactionsLoseNothingWhileNodesComeAndGo(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		ctx, stop := context.WithCancel(context.Background())
		banks := []bank{{"p"}, {"q"}, {"r"}, {"s"}, {"t"}, {"u"}}
		if isBrief() {
			banks = banks[:2]
		}
		first := c.client("a")
		for _, b := range banks {
			for _, key := range b.all() {
				if err := first.Set(ctx, key, deposit, 0).Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
		var workers sync.WaitGroup
		type tally struct {
			acked, tried, races int
			looks               int
		}
		tallies := make([]tally, 3*len(banks))
		for i := range tallies {
			b, node := banks[i/3], string(rune('a'+i%3))
			client, rnd := c.client(node), rand.New(rand.NewPCG(seed, uint64(i)))
			workers.Go(func() {
				defer client.Close()
				mine := &tallies[i]
				for n := 1; ctx.Err() == nil; n++ {
					mine.tried = n
					switch err := b.move(ctx, client, rnd, strconv.Itoa(i), n); {
					case err == nil:
						mine.acked = n
					case errors.Is(err, redis.TxFailedErr):
						mine.races++
					default:
						time.Sleep(50 * time.Millisecond) // virtual
					}
					if sum, err := b.sum(ctx, client); err == nil {
						mine.looks++
						if sum != accounts*deposit {
							t.Errorf("client %d sees %d", i, sum)
							return
						}
					}
				}
			})
		}
		time.Sleep(time.Second)
		c.start("d", "a")
		time.Sleep(3 * time.Second)
		c.crash("b")
		time.Sleep(6 * time.Second)
		c.start("b", "a")
		time.Sleep(4 * time.Second)
		leaving, cancel := context.WithTimeout(ctx, time.Minute)
		c.nodes["d"].leaves = true
		if err := c.nodes["d"].Leave(leaving); err != nil {
			t.Error(err)
		}
		cancel()
		c.stop("d")
		stop()
		workers.Wait()
		races := 0
		for i, mine := range tallies {
			b := banks[i/3]
			if mine.acked == 0 || mine.looks == 0 {
				t.Errorf("client %d: %+v", i, mine)
			}
			races += mine.races
			got, err := first.Get(context.Background(), b.counter(strconv.Itoa(i))).Int()
			if err != nil || got < mine.acked || got > mine.tried {
				t.Errorf("client %d: %+v, but %d is there, %v", i, mine, got, err)
			}
			if sum, err := b.sum(context.Background(), first); err != nil || sum != accounts*deposit {
				t.Errorf("bank %s: %d, %v", b.tag, sum, err)
			}
		}
		if races == 0 {
			t.Error("nobody came in anybody's way")
		}
		_ = first.Close()
		c.close()
	})
}

// A user's transactions are undone at whichever node the keys are, once the cluster has agreed on it. A node that is too
// old to undo one is not sent it.
func TestAtomicUserIsUndoneAtAllNodes(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			cfg.ForwardTimeout = 2 * time.Second
			if cfg.ID == "c" {
				cfg.env.Versions = bus.Versions{Oldest: 3, Newest: 15}
			}
			cfg.env.OldForms = true
		})
		c.three()
		c.backups(1)
		ctx := t.Context()
		admin := c.client("a")
		for _, line := range []string{"ACL SETUSER alice on >secret +@all ~*", "RING USER alice ATOMIC ON"} {
			var words []any
			for _, word := range strings.Fields(line) {
				words = append(words, word)
			}
			if err := admin.Do(ctx, words...).Err(); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		time.Sleep(time.Second)
		for _, via := range []string{"a", "b"} {
			for _, owner := range []string{"a", "b", "c"} {
				key := c.ownKey(owner)
				admin.Set(ctx, key, "v", 0)
				client := c.client(via)
				conn := client.Conn()
				if err := conn.AuthACL(ctx, "alice", "secret").Err(); err != nil {
					t.Fatal(err)
				}
				_, err := conn.TxPipelined(ctx, func(p redis.Pipeliner) error {
					p.Set(ctx, key, "w", 0)
					p.LPush(ctx, key, "x")
					return nil
				})
				if err == nil || owner != "c" && !strings.HasPrefix(err.Error(), "EXECABORT Transaction undone because of: WRONGTYPE") {
					t.Errorf("through %s at %s: %v", via, owner, err)
				}
				if err := conn.Eval(ctx, "redis.call('SET', KEYS[1], 'w'); error('no')", []string{key}).Err(); err == nil {
					t.Errorf("through %s at %s: the script succeeds", via, owner)
				}
				if got, err := admin.Get(ctx, key).Result(); got != "v" || err != nil {
					t.Errorf("through %s at %s: %q is left, %v", via, owner, got, err)
				}
				_ = conn.Close()
				_ = client.Close()
			}
		}
		if on, err := admin.Do(ctx, "RING", "USER", "alice", "ATOMIC").Text(); on != "on" || err != nil {
			t.Errorf("RING USER: %q, %v", on, err)
		}
		if err := admin.Do(ctx, "RING", "USER", "alice", "ATOMIC", "OFF").Err(); err != nil {
			t.Error(err)
		}
		if on, err := admin.Do(ctx, "RING", "USER", "alice", "ATOMIC").Text(); on != "off" || err != nil {
			t.Errorf("RING USER after OFF: %q, %v", on, err)
		}
		_ = admin.Close()
		c.close()
	})
}
