package resp

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// TestMessagesOfGoRedis subscribes as applications do, in both protocols.
func TestMessagesOfGoRedis(t *testing.T) {
	_, addr := serveTest(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for proto := 2; proto <= 3; proto++ {
		c := redis.NewClient(&redis.Options{Addr: addr, Protocol: proto})
		sub := c.Subscribe(ctx, "news")
		if err := sub.PSubscribe(ctx, "n*"); err != nil {
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
		if n, err := c.Publish(ctx, "news", "hello").Result(); n != 2 || err != nil {
			t.Errorf("PUBLISH: %d %v", n, err)
		}
		for _, pattern := range []string{"", "n*"} {
			m, err := sub.ReceiveMessage(ctx)
			if err != nil || m.Payload != "hello" || m.Pattern != pattern {
				t.Errorf("a message: %v %v", m, err)
			}
		}
		if n, err := c.PubSubNumSub(ctx, "news").Result(); n["news"] != 1 || err != nil {
			t.Errorf("PUBSUB NUMSUB: %v %v", n, err)
		}
		shard := c.SSubscribe(ctx, "s")
		if _, err := shard.Receive(ctx); err != nil {
			t.Fatal(err)
		}
		if err := c.SPublish(ctx, "s", "x").Err(); err != nil {
			t.Error(err)
		}
		if m, err := shard.ReceiveMessage(ctx); err != nil || m.Payload != "x" {
			t.Errorf("a message of a shard: %v %v", m, err)
		}
		_, _, _ = sub.Close(), shard.Close(), c.Close()
	}
}

// TestMessagesOfRueidis receives messages beside commands, on one connection in RESP3.
func TestMessagesOfRueidis(t *testing.T) {
	_, addr := serveTest(t, nil)
	for _, old := range []bool{false, true} {
		c, err := rueidis.NewClient(rueidis.ClientOption{
			InitAddress: []string{addr}, DisableCache: true, AlwaysRESP2: old, ForceSingleClient: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		got := make(chan string, 10)
		ended := make(chan error, 1)
		go func() {
			ended <- c.Receive(ctx, c.B().Psubscribe().Pattern("n*").Build(), func(m rueidis.PubSubMessage) { got <- m.Channel + " " + m.Message })
		}()
		for n := int64(0); n == 0; {
			if n, err = c.Do(ctx, c.B().Publish().Channel("news").Message("hello").Build()).AsInt64(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		if m := <-got; m != "news hello" {
			t.Error(m)
		}
		cancel()
		<-ended
		c.Close()
	}
}
