package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/resp/node/nodetest"
)

// otherBinary is the variable with the path of a binary of an earlier build.
const otherBinary = "RINGSIDE_TEST_OTHER_BINARY"

// Every node is stopped by SIGTERM and started again, one after the other as Kubernetes
// would do it, while clients of the others go on: not one command fails.
func TestRollingRestartOfProcesses(t *testing.T) {
	onlyAtLength(t)
	t.Run("same build", func(t *testing.T) { rollingRestart(t, os.Args[0]) })
	t.Run("from another build and back", func(t *testing.T) {
		other := os.Getenv(otherBinary)
		if other == "" {
			t.Skip(otherBinary + " is not set to a binary of another build")
		}
		rollingRestart(t, other, other)
	})
}

// rollingRestart starts three nodes and a proxy of a build, restarts each with this build, and then with others.
func rollingRestart(t *testing.T, from string, back ...string) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c := newProcessCluster(t, "buckets")
	c.binary = from
	web := make(map[string]string)
	for _, id := range []string{"a", "b", "c"} {
		web[id] = freePorts(t, 1)[0]
		c.start(id, "--http-addr", web[id])
	}
	c.settled("a", "b", "c")
	web["p"] = freePorts(t, 1)[0]
	proxy := c.start("p", "--role", "proxy", "--http-addr", web["p"])
	last := ""
	c.await("the proxy is ready", func() bool { return readiness(web["p"], &last) }, &last)
	const size = 1000
	keys := filled()
	c.fill(proxy, keys, size)
	for round, binary := range append([]string{os.Args[0]}, back...) {
		t.Log("nodes get the build", binary)
		c.binary = binary
		restartEach(t, c, seed, web, round)
		c.settled("a", "b", "c")
		for _, n := range c.living() {
			c.checkFill(n, keys, size)
		}
	}
}

// restartEach restarts one node after the other while clients of the others go on, with keys of their own in each round.
func restartEach(t *testing.T, c *processCluster, seed uint64, web map[string]string, round int) {
	last := ""
	for i, n := range c.nodes {
		var load nodetest.AppLoad
		for j := range 2 {
			other := c.nodes[(i+1+j)%len(c.nodes)]
			client := other.client()
			defer client.Close()
			load.Start(restingWorker(fmt.Sprintf("%d of %s while %s restarts in round %d", j, other.id, n.id, round), seed+uint64(i)), nodetest.GoRedis(client), false)
		}
		time.Sleep(time.Second)
		began := time.Now()
		n.stop(syscall.SIGTERM)
		t.Logf("%s has ended after %v", n.id, time.Since(began))
		n.alive = false
		time.Sleep(2 * time.Second)
		c.restart(n)
		c.await(n.id+" is ready", func() bool { return readiness(web[n.id], &last) }, &last)
		stopLoad(t, &load)
		c.check(&load)
	}
}

// readiness asks a node as a probe does.
func readiness(addr string, last *string) bool {
	reply, err := http.Get("http://" + addr + "/readyz")
	if err != nil {
		*last = err.Error()
		return false
	}
	defer func() { _ = reply.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(reply.Body, 1<<10))
	*last = fmt.Sprint(reply.StatusCode, " ", string(body), " ", err)
	return reply.StatusCode == http.StatusOK
}
