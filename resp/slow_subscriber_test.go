package resp

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// TestStoppedSubscriberDoesNotDelayWrites has a client write while a subscriber to all key events
// reads nothing. The subscriber's queue is bounded and holds no reply; the subscriber is closed.
func TestStoppedSubscriberDoesNotDelayWrites(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		srv, dial := serveBubble(t, func(c *Config) { c.Settings.OutputBuffer = 64 << 10 })
		stopped, reader, writer := dial(), dial(), dial()
		if got := ask(t, writer, "CONFIG SET notify-keyspace-events KEA"); got != "+OK" {
			t.Fatal(got)
		}
		ask(t, stopped, "PSUBSCRIBE __key*__:*")
		ask(t, reader, "SUBSCRIBE __keyevent@0__:set")
		heard := make(chan int)
		go func() {
			n := 0
			for in := bufio.NewScanner(reader); in.Scan(); {
				if in.Text() == "message" {
					n++
				}
				if in.Text() == "last" {
					break
				}
			}
			heard <- n
		}()
		const batches, batch = 100, 200
		longest := time.Duration(0)
		in := resptest.NewReader(writer)
		for i := range batches {
			var b strings.Builder
			for j := range batch {
				key := fmt.Sprint("some key ", i, " ", j)
				if i == batches-1 && j == batch-1 {
					key = "last"
				}
				fmt.Fprintf(&b, "SET %q v\r\n", key)
			}
			began := time.Now()
			go io.WriteString(writer, b.String())
			for range batch {
				if v, err := in.Read(); err != nil || v.String() != "+OK" {
					t.Fatalf("%s, %v", v, err)
				}
			}
			longest = max(longest, time.Since(began))
		}
		if longest > 100*time.Millisecond {
			t.Errorf("a pipeline of SETs was answered after %v", longest)
		}
		if n := <-heard; n != batches*batch {
			t.Errorf("who reads heard of %d of %d writes", n, batches*batch)
		}
		_ = closesAfter(stopped)
		if got := srv.stats.OutputLimit.Load(); got != 1 {
			t.Errorf("%d clients were closed since they do not read, want 1", got)
		}
	})
}
