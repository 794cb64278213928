package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/resp/node/nodetest"
)

// Every node is stopped by SIGTERM and started again, one after the other as Kubernetes
// would do it, while clients of the others go on: not one command fails.
func TestRollingRestartOfProcesses(t *testing.T) {
	onlyAtLength(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c := newProcessCluster(t, "buckets")
	web := make(map[string]string)
	for _, id := range []string{"a", "b", "c"} {
		web[id] = freePorts(t, 1)[0]
		c.start(id, "--http-addr", web[id])
	}
	c.settled("a", "b", "c")
	const size = 1000
	keys := filled()
	c.fill(c.nodes[0], keys, size)
	for i, n := range c.nodes {
		var load nodetest.AppLoad
		for j, other := range []*processNode{c.nodes[(i+1)%3], c.nodes[(i+2)%3]} {
			client := other.client()
			defer client.Close()
			load.Start(restingWorker(fmt.Sprintf("%d of %s while %s restarts", j, other.id, n.id), seed+uint64(i)), nodetest.GoRedis(client), false)
		}
		time.Sleep(time.Second)
		began := time.Now()
		n.stop(syscall.SIGTERM)
		t.Logf("%s has ended after %v", n.id, time.Since(began))
		n.alive = false
		time.Sleep(2 * time.Second)
		c.restart(n)
		last := ""
		c.await(n.id+" is ready", func() bool { return readiness(web[n.id], &last) }, &last)
		stopLoad(t, &load)
		c.check(&load)
	}
	c.settled("a", "b", "c")
	for _, n := range c.living() {
		c.checkFill(n, keys, size)
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
