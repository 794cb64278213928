package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ringside-kv/ringside/buckets"
)

var requestsLate = regexp.MustCompile(`requests_late:([1-9]\d*)`)

// A write whose owner is stopped by SIGSTOP is UNKNOWN after the time-out of the node that
// forwards it. The owner finds it in its socket when it goes on, and does not execute it.
func TestClusterDropsAWriteThatItsStoppedOwnerFindsLate(t *testing.T) {
	t.Parallel() // it waits most of the time
	c := newProcessCluster(t, "buckets", "--forward-timeout", "500ms")
	a := c.start("a")
	b := c.start("b")
	c.settled("a", "b")
	p, err := a.placement()
	if err != nil {
		t.Fatal(err)
	}
	key := ""
	for i := 0; key == "" || p.Lookup(buckets.Token([]byte(key))).Primary != "b"; i++ {
		key = fmt.Sprint("key:", i)
	}
	ctx := context.Background()
	client := a.client()
	defer client.Close()
	conn := client.Conn() // all that it forwards travels on one connection between the nodes
	defer conn.Close()
	last := ""
	c.await("a forwards to b", func() bool {
		err := conn.Set(ctx, key, "before", 0).Err()
		last = fmt.Sprint(err)
		return err == nil
	}, &last)

	_ = b.cmd.Process.Signal(syscall.SIGSTOP)
	var status syscall.WaitStatus // all of its threads stand still when this returns
	if _, err := syscall.Wait4(b.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("b did not stop: %v, %v", status, err)
	}
	err = conn.Set(ctx, key, "late", 0).Err()
	_ = b.cmd.Process.Signal(syscall.SIGCONT)
	if err == nil || !strings.HasPrefix(err.Error(), "UNKNOWN ") {
		t.Fatalf("SET to a stopped node: %v", err)
	}
	owner := b.client()
	defer owner.Close()
	got := ""
	c.await("b finds the write", func() bool {
		info, err := owner.Do(ctx, "RING", "INFO").Text()
		if err == nil {
			got, err = client.Get(ctx, key).Result()
		}
		last = fmt.Sprint(got, ", ", err, "\n", info)
		return err == nil && (requestsLate.MatchString(info) || got != "before")
	}, &last)
	if got != "before" {
		t.Errorf("the value is %q", got)
	}
}
