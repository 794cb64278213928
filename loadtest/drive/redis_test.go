package drive

import (
	"net"
	"os/exec"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/freeport"
)

// startRedis runs a redis-server of its own, and returns its address.
func startRedis(t testing.TB, flags ...string) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server to drive")
	}
	addrs, err := freeport.Loopback(1)
	if err != nil {
		t.Fatal(err)
	}
	addr := addrs[0]
	_, port, _ := net.SplitHostPort(addr)
	args := append([]string{"--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir()}, flags...)
	cmd := exec.Command(path, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			return addr
		}
	}
	t.Fatal("redis-server does not start")
	return ""
}
