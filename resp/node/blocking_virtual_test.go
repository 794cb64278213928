package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// A queue is a list of a cluster that clients of all nodes push to and wait for.
type queue struct {
	c       *virtualCluster
	key     string
	ctx     context.Context
	stop    context.CancelFunc
	clients sync.WaitGroup

	mu      sync.Mutex
	pushed  map[string]bool // those that were acknowledged
	maybe   map[string]bool // those of which it is not known
	taken   map[string]int
	unknown int // takers that were told so, or not told at all
	failed  []string
}

func newQueue(c *virtualCluster, key string) *queue {
	q := &queue{c: c, key: key, pushed: map[string]bool{}, maybe: map[string]bool{}, taken: map[string]int{}}
	q.ctx, q.stop = context.WithCancel(context.Background())
	return q
}

func (q *queue) note(of func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	of()
}

// take has so many clients of a node wait for elements.
func (q *queue) take(id string, n int) {
	for i := range n {
		client := q.c.client(id)
		q.clients.Go(func() {
			defer client.Close()
			for q.ctx.Err() == nil {
				got, err := client.Do(context.Background(), "BLPOP", q.key, "5").StringSlice()
				q.note(func() {
					switch {
					case err == nil:
						q.taken[got[1]]++
					case errors.Is(err, redis.Nil):
					case unclear(err):
						q.unknown++
					default:
						q.failed = append(q.failed, fmt.Sprintf("taker %d of %s: %v", i, id, err))
					}
				})
				if err != nil {
					time.Sleep(50 * time.Millisecond)
				}
			}
		})
	}
}

// unclear tells whether an error leaves open what has happened.
func unclear(err error) bool {
	var reply redis.Error
	return !errors.As(err, &reply) || strings.HasPrefix(err.Error(), "UNKNOWN ")
}

// push has a client of a node push elements.
func (q *queue) push(id string, pause time.Duration) {
	client := q.c.client(id)
	q.clients.Go(func() {
		defer client.Close()
		for n := 0; q.ctx.Err() == nil; n++ {
			element := fmt.Sprintf("%s-%d", id, n)
			err := client.RPush(context.Background(), q.key, element).Err()
			q.note(func() {
				switch {
				case err == nil:
					q.pushed[element] = true
				case unclear(err):
					q.maybe[element] = true
				default:
					q.failed = append(q.failed, fmt.Sprintf("pusher of %s: %v", id, err))
				}
			})
			time.Sleep(pause)
		}
	})
}

// end checks that each element was taken once, but for those whose takers do not know.
func (q *queue) end() {
	t := q.c.t
	t.Helper()
	time.Sleep(10 * time.Second) // the last wait ends
	q.stop()
	q.clients.Wait()
	missing := 0
	for element := range q.pushed {
		if q.taken[element] == 0 {
			missing++
		}
	}
	for element, n := range q.taken {
		if n != 1 || !q.pushed[element] && !q.maybe[element] {
			t.Errorf("%s was taken %d times, pushed: %v", element, n, q.pushed[element])
		}
	}
	client := q.c.client(q.c.running()[0])
	left, err := client.LLen(context.Background(), q.key).Result()
	_ = client.Close()
	if err != nil || missing > q.unknown+int(left) {
		t.Errorf("%d elements are missing, %d takers do not know, %d are left (%v)", missing, q.unknown, left, err)
	}
	for _, text := range q.failed {
		t.Error(text)
	}
	t.Logf("%d pushed, %d perhaps, %d taken, %d missing, %d unknown", len(q.pushed), len(q.maybe), len(q.taken), missing, q.unknown)
	if len(q.taken) < 50 {
		t.Errorf("only %d were taken", len(q.taken))
	}
}

// A node that stops hands its keys over: who waits for them through other nodes notices
// nothing.
func TestWaitingClientsSurviveStopOfNode(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.backed()
		q := newQueue(c, c.ownKey("b"))
		q.take("a", 3)
		q.take("c", 3)
		q.push("a", 200*time.Millisecond)
		q.push("c", 300*time.Millisecond)
		time.Sleep(5 * time.Second)
		c.stop("b")
		time.Sleep(5 * time.Second)
		c.start("b", "a")
		time.Sleep(20 * time.Second)
		if len(q.maybe)+q.unknown > 0 {
			t.Errorf("%d pushes and %d takers do not know", len(q.maybe), q.unknown)
		}
		q.end()
		c.close()
	})
}

// A node dies, or stands still: elements may be lost for those that are told so.
func TestWaitingClientsWhileNodeIsReplaced(t *testing.T) {
	randomtest.Draw(t, 3)
	for name, frozen := range map[string]bool{"killed": false, "stands still": true} {
		t.Run(name, func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
				c.backed()
				q := newQueue(c, c.ownKey("b"))
				q.take("a", 3)
				q.take("c", 3)
				pause := 20 * time.Millisecond
				if isBrief() {
					pause *= 5
				}
				q.push("a", pause)
				q.push("c", pause*3/2)
				time.Sleep(5 * time.Second)
				if frozen {
					c.net.Freeze(c.nodes["b"].ip, true)
				} else {
					c.crash("b")
				}
				time.Sleep(20 * time.Second)
				if frozen {
					c.net.Freeze(c.nodes["b"].ip, false)
					time.Sleep(5 * time.Second)
				}
				q.end()
				c.close()
			})
		})
	}
}

// Who only reads takes nothing, so it is no matter to him that the node where he waited is gone:
// he gets all that is added afterwards, and nothing twice.
func TestWaitingReadersSurviveDeathOfNode(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.backed()
		key := c.ownKey("b")
		add := c.client("a")
		ctx, stop := context.WithCancel(context.Background())
		var readers sync.WaitGroup
		seen := make([]string, 6)
		for i := range seen {
			client := c.client([]string{"a", "c"}[i%2])
			readers.Go(func() {
				defer client.Close()
				last := "0"
				for ctx.Err() == nil {
					got, err := client.XRead(context.Background(), &redis.XReadArgs{Streams: []string{key, last}, Block: 5 * time.Second}).Result()
					if err != nil && !errors.Is(err, redis.Nil) {
						t.Errorf("reader %d: %v", i, err)
						return
					}
					for _, stream := range got {
						for _, m := range stream.Messages {
							seen[i] += m.ID + " "
							last = m.ID
						}
					}
				}
			})
		}
		want := ""
		for n := 1; n <= 100; n++ {
			id := fmt.Sprint(n, "-1")
			if n == 50 {
				time.Sleep(time.Second) // nothing is under way: all wait
				c.crash("b")
			}
			err := add.XAdd(context.Background(), &redis.XAddArgs{Stream: key, ID: id, Values: []string{"f", "v"}}).Err()
			if err != nil && n < 50 {
				t.Errorf("entry %s: %v", id, err)
			}
			if err == nil || unclear(err) {
				want += id + " "
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		stop()
		readers.Wait()
		_ = add.Close()
		for i, got := range seen {
			if got != want {
				t.Errorf("reader %d has read %s, want %s", i, got, want)
			}
		}
		c.close()
	})
}

// The order of arrival is that of all clients, through whichever node, and survives that the
// keys go elsewhere.
func TestOrderOfArrivalSurvivesHandoff(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.backed()
		key := c.ownKey("b")
		results := make([]chan string, 9)
		for i := range results {
			results[i] = make(chan string, 1)
			client := c.client([]string{"a", "c"}[i%2])
			go func() {
				defer client.Close()
				got, err := client.Do(context.Background(), "BLPOP", key, "0").StringSlice()
				results[i] <- fmt.Sprint(got, err)
			}()
			time.Sleep(100 * time.Millisecond)
		}
		c.stop("b")
		time.Sleep(5 * time.Second)
		client := c.client("a")
		for i := range results {
			if err := client.RPush(t.Context(), key, i).Err(); err != nil {
				t.Error(err)
			}
			if got, want := <-results[i], fmt.Sprintf("[%s %d] <nil>", key, i); got != want {
				t.Errorf("client %d got %s, want %s", i, got, want)
			}
		}
		_ = client.Close()
		c.close()
	})
}
