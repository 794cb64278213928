package redistest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/freeport"
)

// patience bounds what a server or a client waits for. Each takes a moment on a machine that
// does nothing else. The defaults of go-redis, 3 s for a reply and 5 s for a connection, are
// too short for a machine that stalls.
const patience = 2 * time.Minute

// Start runs a redis-server that keeps nothing on disk and ends with the test, and returns
// its address. Options are those of its command line. The test is skipped where there is
// no redis-server.
func Start(t testing.TB, options ...string) (addr string) {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("there is no redis-server")
	}
	for range 5 { // another process may take a port first
		if addr, err = try(t, path, options); err == nil {
			return addr
		}
	}
	t.Fatal(err)
	return ""
}

// Start7 is Start for tests of what differs from version to version: they are skipped where
// the redis-server is not of Redis 7.0.
func Start7(t testing.TB, options ...string) (addr string) {
	t.Helper()
	if reason := not7(); reason != "" {
		t.Skip(reason)
	}
	return Start(t, options...)
}

// not7 returns why the redis-server is not of Redis 7.0, or "" if it is or there is none. It
// asks once for all tests of a process.
var not7 = sync.OnceValue(func() string {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return ""
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil || !bytes.Contains(version, []byte(" v=7.0.")) {
		return fmt.Sprintf("redis-server is not 7.0: %s %v", version, err)
	}
	return ""
})

// StartCluster is Start7 for a Redis Cluster of one node, which has all slots and serves
// them. The password may be "".
func StartCluster(t testing.TB, password string) (addr string) {
	t.Helper()
	addr = Start7(t, "--cluster-enabled", "yes", "--requirepass", password)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if password != "" {
		_, _ = fmt.Fprintf(c, "AUTH %s\r\n", password)
	}
	_, _ = io.WriteString(c, "CLUSTER ADDSLOTSRANGE 0 16383\r\n")
	// A node takes two seconds before it says that its cluster is whole.
	for in := bufio.NewReader(c); ; time.Sleep(10 * time.Millisecond) {
		_, _ = io.WriteString(c, "CLUSTER INFO\r\n")
		for line := ""; !strings.HasPrefix(line, "cluster_state:"); {
			if line, err = in.ReadString('\n'); err != nil || line[0] == '-' {
				t.Fatalf("the cluster of one Redis: %q %v", line, err)
			}
			if line == "cluster_state:ok\r\n" {
				return addr
			}
		}
	}
}

// try starts a server and returns once it says that it is ready.
func try(t testing.TB, path string, options []string) (addr string, err error) {
	addrs, release, err := freeport.Loopback(1)
	if err != nil {
		return "", err
	}
	started := false
	defer func() {
		if !started {
			release()
		}
	}()
	_, port, _ := net.SplitHostPort(addrs[0])
	server := exec.Command(path, append([]string{"--port", port, "--bind", "127.0.0.1",
		"--save", "", "--appendonly", "no", "--dir", t.TempDir()}, options...)...)
	out, err := server.StdoutPipe()
	if err != nil {
		return "", err
	}
	var errs, log strings.Builder // what it said before it was ready
	server.Stderr = &errs
	if err := server.Start(); err != nil {
		return "", err
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			log.WriteString(lines.Text() + "\n")
			if strings.Contains(lines.Text(), "Ready to accept connections") {
				close(ready)
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
		_ = server.Wait()
	}()
	stop := func() {
		_ = server.Process.Kill()
		<-ended
	}
	select {
	case <-ready:
		started = true
		t.Cleanup(release)
		t.Cleanup(stop)
		return addrs[0], nil
	case <-ended:
		return "", fmt.Errorf("redis-server ended at once:\n%s%s", log.String(), errs.String())
	case <-time.After(patience):
		stop()
		return "", errors.New("redis-server does not get ready")
	}
}
