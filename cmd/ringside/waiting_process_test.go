package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Clients wait for elements of many lists through all nodes, and others push them, while a
// node is killed that has a third of the lists: no element that was acknowledged is taken twice,
// and none is missing but for those of whom a taker was told that it does not know, or whose
// connection broke. Readers of streams, who take nothing, notice nothing through the nodes that
// stay.
func TestClusterServesWaitingClientsWhileNodeIsKilled(t *testing.T) {
	onlyAtLength(t)
	c := newProcessCluster(t, "buckets")
	nodes := []*processNode{c.start("a"), c.start("b"), c.start("c")}
	c.settled("a", "b", "c")
	const lists = 12
	w := &waitingClients{t: t, taken: map[string]int{}, pushed: map[string]bool{}}
	ctx, stop := context.WithCancel(t.Context())
	for i := range lists {
		w.take(ctx, nodes[i%3], fmt.Sprint("list:", i))
		w.read(ctx, nodes[i%2*2], fmt.Sprint("stream:", i))
	}
	w.push(ctx, nodes[0], lists)
	served := func(n int) func() bool {
		return func() bool { return w.served.Load() >= int64(n) }
	}
	c.await("elements to be taken", served(200), new(string))
	nodes[1].kill()
	before := w.served.Load()
	c.await("elements to be taken after that", func() bool { return w.keptUp.Load() && w.served.Load() > before+500 }, new(string))
	c.restart(nodes[1])
	c.settled("a", "b", "c")
	stop()
	w.clients.Wait()
	w.check(nodes[0], lists)
	for _, n := range nodes {
		n.stop(syscall.SIGTERM)
	}
}

// waitingClients take what others push.
type waitingClients struct {
	t       *testing.T
	clients sync.WaitGroup
	served  atomic.Int64
	keptUp  atomic.Bool // the pusher has been through all lists since its last error

	mu      sync.Mutex
	taken   map[string]int
	pushed  map[string]bool // those that were acknowledged
	unknown int             // takers who do not know
}

// take waits for elements of a list.
func (w *waitingClients) take(ctx context.Context, n *processNode, list string) {
	client := n.client()
	w.clients.Go(func() {
		defer client.Close()
		for ctx.Err() == nil {
			got, err := client.BLPop(context.Background(), time.Second, list).Result()
			w.mu.Lock()
			switch {
			case err == nil:
				w.taken[got[1]]++
				w.served.Add(1)
			case !errors.Is(err, redis.Nil):
				w.unknown++
				if text := err.Error(); n.id != "b" && !strings.HasPrefix(text, "UNKNOWN ") && !strings.HasPrefix(text, "CLUSTERDOWN ") {
					w.t.Errorf("through %s: %v", n.id, err)
				}
			}
			w.mu.Unlock()
			if err != nil && !errors.Is(err, redis.Nil) {
				time.Sleep(50 * time.Millisecond)
			}
		}
	})
}

// read waits for entries of a stream, each of which holds one more than the one before.
func (w *waitingClients) read(ctx context.Context, n *processNode, stream string) {
	client := n.client()
	w.clients.Go(func() {
		defer client.Close()
		for last := "0"; ctx.Err() == nil; {
			got, err := client.XRead(context.Background(), &redis.XReadArgs{Streams: []string{stream, last}, Block: time.Second}).Result()
			if err != nil && !errors.Is(err, redis.Nil) {
				w.t.Errorf("a reader through %s: %v", n.id, err)
				return
			}
			for _, s := range got {
				for _, m := range s.Messages {
					last = m.ID
				}
			}
		}
	})
}

// push adds to one list and one stream after the other.
func (w *waitingClients) push(ctx context.Context, n *processNode, lists int) {
	client := n.client()
	w.clients.Go(func() {
		defer client.Close()
		good := 0
		for i := 0; ctx.Err() == nil; i++ {
			element := fmt.Sprint("element:", i)
			err := client.RPush(context.Background(), fmt.Sprint("list:", i%lists), element).Err()
			if err == nil {
				w.mu.Lock()
				w.pushed[element] = true
				w.mu.Unlock()
				err = client.XAdd(context.Background(), &redis.XAddArgs{Stream: fmt.Sprint("stream:", i%lists), Values: []string{"i", element}}).Err()
			}
			if good++; err != nil {
				good = 0
			}
			w.keptUp.Store(good > 2*lists)
		}
	})
}

// check looks for what was pushed.
func (w *waitingClients) check(n *processNode, lists int) {
	w.t.Helper()
	client := n.client()
	defer client.Close()
	for i := range lists {
		left, err := client.LRange(context.Background(), fmt.Sprint("list:", i), 0, -1).Result()
		if err != nil {
			w.t.Error(err)
		}
		for _, element := range left {
			w.taken[element]++
		}
	}
	missing := 0
	for element := range w.pushed {
		if w.taken[element] == 0 {
			missing++
		}
	}
	for element, times := range w.taken {
		if times > 1 {
			w.t.Errorf("%s was taken %d times", element, times)
		}
	}
	w.t.Logf("%d pushed, %d missing, %d unknown", len(w.pushed), missing, w.unknown)
	if missing > w.unknown {
		w.t.Errorf("%d elements are missing, and %d takers do not know", missing, w.unknown)
	}
}
