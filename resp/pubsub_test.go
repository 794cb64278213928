package resp

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/pubsub"
	"github.com/ringside-kv/ringside/store"
)

// A subscriber that does not read is closed once so much waits for it, and costs the others
// nothing.
func TestSubscriberThatDoesNotReadIsClosed(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.OutputBuffer = 1 << 20 })
	slow, quick, from := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	slow.Do("SUBSCRIBE", "news")
	quick.Do("SUBSCRIBE", "news")
	message := strings.Repeat("x", 16<<10)
	counts := make(map[string]int)
	for sent := 0; counts[":1"] == 0; sent++ {
		counts[from.Do("PUBLISH", "news", message).String()]++
		if v, err := quick.Read(); err != nil || len(v.Elems) != 3 || v.Elems[2].Text != message {
			t.Fatalf("message %d: %v", sent, err)
		}
		if sent > 10000 {
			t.Fatal("it is not closed")
		}
	}
	resptest.WaitFor(t, "an end", func() bool { return srv.count.Load() == 2 })
	if used := srv.budget.InUse(); used > 1<<20 {
		t.Errorf("%d bytes are still charged", used)
	}
}

// What many publish at once reaches all subscribers, that of each publisher in order, and
// nothing after the reply that says that a subscription is over.
func TestManyPublishersAndSubscribers(t *testing.T) {
	_, addr := serveTest(t, nil)
	const publishers, messages = 6, 300
	var subscribers, all sync.WaitGroup
	subscribers.Add(5)
	for i := range 5 {
		o := resptest.Dial(t, addr, 2+i%2)
		o.Do("SUBSCRIBE", "news")
		all.Go(func() {
			seen := make(map[string]int)
			for n := 0; n < publishers*messages; n++ {
				v, err := o.Read()
				if err != nil || len(v.Elems) != 3 {
					t.Errorf("message %d: %v, %v", n, v, err)
					break
				}
				who, number, _ := strings.Cut(v.Elems[2].Text, " ")
				if number != fmt.Sprint(seen[who]) {
					t.Errorf("%s of %s came as number %d", number, who, seen[who])
				}
				seen[who]++
			}
			subscribers.Done()
		})
	}
	// This one comes and goes.
	restless, stop := resptest.Dial(t, addr, 3), make(chan struct{})
	all.Go(func() {
		for {
			restless.Send("SUBSCRIBE", "news", "other")
			restless.Send("UNSUBSCRIBE", "news")
			subscribed := false
			for over := false; !over; {
				v, err := restless.Read()
				if err != nil {
					t.Error(err)
					return
				}
				switch v.Elems[0].Text {
				case "subscribe":
					subscribed = true
				case "unsubscribe":
					over = true
				default:
					if !subscribed {
						t.Error("a message without a subscription")
					}
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	var done sync.WaitGroup
	for i := range publishers {
		o := resptest.Dial(t, addr, 2)
		done.Go(func() {
			for n := 0; n < messages; n += 10 {
				for m := range 10 {
					o.Send("PUBLISH", "news", fmt.Sprint(i, " ", n+m))
				}
				for range 10 {
					if v := o.Next(); v.Text != "5" && v.Text != "6" {
						t.Errorf("%v clients got it", v)
					}
				}
			}
		})
	}
	done.Wait()
	subscribers.Wait()
	close(stop)
	all.Wait()
}

// Subscriptions end with the connection, and with RESET, wherever messages are on their way.
func TestSubscriptionsEndWithTheConnection(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	for i := range 100 {
		o.Send("SUBSCRIBE", fmt.Sprint("c", i))
		o.Send("PSUBSCRIBE", fmt.Sprint("p", i))
		o.Send("SSUBSCRIBE", fmt.Sprint("s", i))
	}
	for range 300 {
		o.Next()
	}
	if n := srv.pubsub.Len(); n != 300 {
		t.Errorf("%d subscriptions", n)
	}
	_ = o.C.Close()
	resptest.WaitFor(t, "their end", func() bool { return srv.pubsub.Len() == 0 })
	for _, kind := range []pubsub.Kind{pubsub.Channel, pubsub.Pattern, pubsub.Shard} {
		if n := srv.pubsub.TopicsOf(kind); n > 0 {
			t.Errorf("kind %d: %d are left", kind, n)
		}
	}
	other := resptest.Dial(t, addr, 2)
	other.Do("SUBSCRIBE", "a", "b")
	other.Next()
	if got := other.Do("RESET").String(); got != "+RESET" || srv.pubsub.Len() != 0 {
		t.Error(got)
	}
	// Whoever listens is never idle.
	other.Do("SUBSCRIBE", "a")
	srv.settings.IdleTimeout.Store(int64(time.Nanosecond))
	srv.closeIdle()
	if got := other.Do("PING").String(); got != "*($pong $)" {
		t.Error(got)
	}
}

// Shard channels lie anywhere on a forward connection; a redirect connection is sent to the
// owner of their token, as by Redis Cluster.
func TestShardChannelsOnARedirectConnection(t *testing.T) {
	r, keys := halves(t)
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Want("*($ssubscribe $"+keys[1]+" :1)", "SSUBSCRIBE", keys[1])
	o = resptest.Dial(t, r.addrs[0], 2)
	o.Want("+OK", "RING", "ROUTE", "redirect")
	for _, words := range [][]string{{"SPUBLISH", keys[1], "m"}, {"SSUBSCRIBE", keys[1]}, {"SUNSUBSCRIBE", keys[1]}} {
		if got := o.Do(words...).String(); !strings.HasPrefix(got, "-MOVED ") || !strings.HasSuffix(got, " "+r.addrs[1]) {
			t.Errorf("%v: %s", words, got)
		}
	}
	o.Want("-"+msgCrossSlot, "SSUBSCRIBE", keys[0], keys[1])
	o.Want(":0", "SPUBLISH", keys[0], "m")
	o.Want(":0", "PUBLISH", keys[1], "m")
	o = resptest.Dial(t, r.addrs[1], 2)
	o.Want("+OK", "RING", "ROUTE", "redirect")
	o.Want(":1", "SPUBLISH", keys[1], "m")
}

// Subscriptions take as much memory as may wait for a client, and no more.
func TestSubscriptionsAreBounded(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.OutputBuffer = 64 << 10 })
	before := srv.budget.InUse()
	o := resptest.Dial(t, addr, 3)
	name := strings.Repeat("n", 1000)
	n := 0
	for ; n < 1000; n++ {
		if v := o.Do("SUBSCRIBE", fmt.Sprint(name, n)); v.Kind == '-' {
			break
		}
	}
	if n < 40 || n > 64 {
		t.Errorf("%d subscriptions", n)
	}
	if v := o.Do("SUBSCRIBE", name+"0"); v.Kind != '>' {
		t.Errorf("one that it has: %v", v)
	}
	o.Do("RESET")
	if left := srv.budget.InUse() - before; left > 16<<10 { // its buffer
		t.Errorf("%d bytes are still charged", left)
	}
}

// PUBSUB in a script or a transaction shows the subscribers of all nodes, at whichever node it runs.
func TestPubsubInScriptCoversAllNodes(t *testing.T) {
	r, keys := halvesOf(t, routedApart(t, 3))
	for _, addr := range r.addrs {
		o := resptest.Dial(t, addr, 2)
		for _, words := range [][]string{{"SUBSCRIBE", "c"}, {"PSUBSCRIBE", "p*"}, {"SSUBSCRIBE", "s"}} {
			o.Do(words...)
		}
	}
	for i, addr := range r.addrs {
		o := resptest.Dial(t, addr, 2)
		for _, key := range keys {
			for sub, want := range map[string]string{
				"'numsub','c'": "*($c :3)", "'shardnumsub','s'": "*($s :3)", "'channels'": "*($c)", "'shardchannels'": "*($s)", "'numpat'": ":1",
			} {
				script := "redis.call('get',KEYS[1]); return redis.call('pubsub'," + sub + ")"
				if got := o.Do("EVAL", script, "1", key).String(); got != want {
					t.Errorf("through node %d: %s of %s: %s, want %s", i, sub, key, got, want)
				}
				o.Want("+OK", "MULTI")
				o.Want("+QUEUED", "GET", key)
				o.Want("+QUEUED", "EVAL", script, "1", key)
				if got := o.Do("EXEC").String(); got != "*(_$ "+want+")" {
					t.Errorf("through node %d: %s in MULTI: %s, want %s", i, sub, got, want)
				}
			}
			o.Want("+OK", "MULTI")
			o.Want("+QUEUED", "GET", key)
			o.Want("+QUEUED", "PUBSUB", "NUMSUB", "c")
			o.Want("*(_$ *($c :3))", "EXEC")
		}
	}
}
