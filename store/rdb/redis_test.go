package rdb

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// startRedis runs a redis-server of its own for the test and returns a client of
// it; the test is skipped where there is no such program.
func startRedis(t *testing.T) *redis.Client {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server to compare with")
	}
	// The port is free when it is looked for and may be taken a moment later:
	// hence the attempts.
	for range 5 {
		if c := tryRedis(t, path); c != nil {
			return c
		}
	}
	t.Fatal("redis-server does not start")
	return nil
}

func tryRedis(t *testing.T, path string) *redis.Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()

	cmd := exec.Command(path, "--bind", "127.0.0.1", "--port", fmt.Sprint(port),
		"--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		cmd.Wait()
		close(exited)
	}()
	stop := func() {
		cmd.Process.Kill()
		<-exited
	}
	c := redis.NewClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", port), MaxRetries: -1})
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		select {
		case <-exited:
			c.Close()
			return nil
		default:
		}
		// The process that answers must be ours, not a stranger on the port.
		info, err := c.Info(context.Background(), "server").Result()
		if err == nil && strings.Contains(info, fmt.Sprintf("process_id:%d\r\n", cmd.Process.Pid)) {
			t.Cleanup(func() {
				c.Close()
				stop()
			})
			return c
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.Close()
	stop()
	return nil
}
