package resp

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// TestMessagesOfGoRedis subscribes as applications do, in both protocols. Each client has names
// of its own: a server counts one that has closed until it hears of it.
func TestMessagesOfGoRedis(t *testing.T) {
	_, addr := serveTest(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), resptest.Patience)
	defer cancel()
	for proto := 2; proto <= 3; proto++ {
		c := redistest.Client(&redis.Options{Addr: addr, Protocol: proto})
		channel, pattern := fmt.Sprint(proto, "news"), fmt.Sprint(proto, "n*")
		sub := c.Subscribe(ctx, channel)
		if err := sub.PSubscribe(ctx, pattern); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := sub.Receive(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if err := sub.Ping(ctx, "there?"); err != nil {
			t.Fatal(err)
		}
		if pong, err := sub.Receive(ctx); err != nil || pong.(*redis.Pong).Payload != "there?" {
			t.Errorf("PING: %v %v", pong, err)
		}
		if n, err := c.Publish(ctx, channel, "hello").Result(); n != 2 || err != nil {
			t.Errorf("PUBLISH: %d %v", n, err)
		}
		for _, pattern := range []string{"", pattern} {
			m, err := sub.ReceiveMessage(ctx)
			if err != nil || m.Payload != "hello" || m.Pattern != pattern {
				t.Errorf("a message: %v %v", m, err)
			}
		}
		if n, err := c.PubSubNumSub(ctx, channel).Result(); n[channel] != 1 || err != nil {
			t.Errorf("PUBSUB NUMSUB: %v %v", n, err)
		}
		shard := c.SSubscribe(ctx, channel)
		if _, err := shard.Receive(ctx); err != nil {
			t.Fatal(err)
		}
		if err := c.SPublish(ctx, channel, "x").Err(); err != nil {
			t.Error(err)
		}
		if m, err := shard.ReceiveMessage(ctx); err != nil || m.Payload != "x" {
			t.Errorf("a message of a shard: %v %v", m, err)
		}
		_, _, _ = sub.Close(), shard.Close(), c.Close()
	}
}

// TestMessagesOfRueidis receives messages beside commands, on one connection in RESP3. Each
// client has names of its own, as above.
func TestMessagesOfRueidis(t *testing.T) {
	_, addr := serveTest(t, nil)
	for _, old := range []bool{false, true} {
		c, err := rueidis.NewClient(rueidis.ClientOption{
			InitAddress: []string{addr}, DisableCache: true, AlwaysRESP2: old, ForceSingleClient: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		channel, pattern := fmt.Sprint(old, "news"), fmt.Sprint(old, "n*")
		ctx, cancel := context.WithTimeout(context.Background(), resptest.Patience)
		got := make(chan string, 10)
		ended := make(chan error, 1)
		go func() {
			ended <- c.Receive(ctx, c.B().Psubscribe().Pattern(pattern).Build(), func(m rueidis.PubSubMessage) { got <- m.Channel + " " + m.Message })
		}()
		for n := int64(0); n == 0; {
			if n, err = c.Do(ctx, c.B().Publish().Channel(channel).Message("hello").Build()).AsInt64(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		select {
		case m := <-got:
			if m != channel+" hello" {
				t.Error(m)
			}
		case err := <-ended:
			t.Fatalf("no message was received: %v", err)
		}
		cancel()
		<-ended
		c.Close()
	}
}
