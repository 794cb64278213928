package redistest

import (
	"bytes"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// patience bounds what a server or a client waits for. Each takes a moment on a machine that
// does nothing else. The defaults of go-redis, 3 s for a reply and 5 s for a connection, are
// too short for a machine that stalls.
const patience = 2 * time.Minute

// Start returns the address of a redis-server that keeps nothing on disk. The server has no
// data, no scripts and no other connections, its settings are those that the options say, and
// no other test uses it until this one ends. Options are those of its command line. The test is
// skipped where there is no redis-server.
func Start(t testing.TB, options ...string) (addr string) {
	t.Helper()
	return lend(t, options, nil)
}

// Start7 is Start for tests of what differs from version to version: they are skipped where
// the redis-server is not of Redis 7.0.
func Start7(t testing.TB, options ...string) (addr string) {
	t.Helper()
	skipUnless7(t)
	return Start(t, options...)
}

// StartCluster is Start7 for a Redis Cluster of one node, which has all slots and serves
// them. The password may be "".
func StartCluster(t testing.TB, password string) (addr string) {
	t.Helper()
	skipUnless7(t)
	return lend(t, []string{"--cluster-enabled", "yes", "--requirepass", password}, (*server).takeSlots)
}

// Start74 is Start for what Redis has since 7.4: tests are skipped where the redis-server is another one.
func Start74(t testing.TB, options ...string) (addr string) {
	t.Helper()
	if reason := isNot("7.4"); reason != "" {
		t.Skip(reason)
	}
	return Start(t, options...)
}

func skipUnless7(t testing.TB) {
	t.Helper()
	if reason := not7(); reason != "" {
		t.Skip(reason)
	}
}

// not7 returns why the redis-server is not of Redis 7.0, or "" if it is or there is none. It
// asks once for all tests of a process.
var not7 = sync.OnceValue(func() string { return isNot("7.0") })

func isNot(want string) string {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return ""
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil || !bytes.Contains(version, []byte(" v="+want+".")) {
		return fmt.Sprintf("redis-server is not %s: %s %v", want, version, err)
	}
	return ""
}
