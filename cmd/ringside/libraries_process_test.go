package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// A libraryReport is what the commands of one client library have come to.
type libraryReport struct {
	Failed map[string]int64 `json:"failed"` // by error
	// Pairs are a SET and a GET each: when it began, in ms since 1970, and how long it took, in µs.
	Pairs [][2]int64 `json:"pairs"`
}

// latencies returns percentiles of the pairs that began between two times, in ms.
func (r *libraryReport) latencies(from, to time.Time) string {
	var took []int64
	for _, p := range r.Pairs {
		if p[0] >= from.UnixMilli() && p[0] < to.UnixMilli() {
			took = append(took, p[1])
		}
	}
	if len(took) == 0 {
		return "none"
	}
	slices.Sort(took)
	at := func(share float64) float64 { return float64(took[int(share*float64(len(took)-1))]) / 1000 }
	return fmt.Sprintf("%d pairs, p50 %.1f, p99 %.1f, p99.9 %.1f, longest %.1f ms", len(took), at(0.5), at(0.99), at(0.999), at(1))
}

// libraryRate is how many commands a second each library sends: 20,000 in all. That saturates a small machine, where
// latencies are those of queues; RINGSIDE_TEST_LIBRARY_RATE sets another rate.
var libraryRate = func() int64 {
	if n, err := strconv.ParseInt(os.Getenv("RINGSIDE_TEST_LIBRARY_RATE"), 10, 32); err == nil && n > 0 {
		return n
	}
	return 4000
}()

// libraryPause is for how many seconds the libraries go on after each restart, as they do while an orchestrator waits for
// probes: RINGSIDE_TEST_LIBRARY_PAUSE. Without a pause a large share of all commands falls into handoffs.
var libraryPause = func() int64 {
	n, _ := strconv.ParseInt(os.Getenv("RINGSIDE_TEST_LIBRARY_PAUSE"), 10, 32)
	return n
}()

// TestClientLibrariesSeeNoErrorWhilePlansAreCarriedOut has client libraries with their defaults write and read through
// one node of three while another node joins, while their own node and two others are stopped by SIGTERM and started
// again one after the other, and while the one that joined leaves: no command fails. The times that they took are logged.
func TestClientLibrariesSeeNoErrorWhilePlansAreCarriedOut(t *testing.T) {
	if os.Getenv("RINGSIDE_APPS") == "" {
		t.Skip("it runs programs of others: go tool task test:apps runs it")
	}
	a := &appRun{t: t, dir: t.TempDir()}
	if err := os.CopyFS(a.dir, os.DirFS(filepath.Join("testdata", "apps"))); err != nil {
		t.Fatal(err)
	}
	npm := program("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "redis@5.12.1", "ioredis@5.11.1")(a)
	if !npm {
		t.Log("ioredis and node-redis are left out: they need npm, and from it redis@5.12.1 and ioredis@5.11.1")
	}
	// The first redis-py that knows notices of maintenance is 7; RINGSIDE_TEST_REDIS_PY names the directory of one.
	t.Setenv("PYTHONPATH", os.Getenv("RINGSIDE_TEST_REDIS_PY"))
	py := program(python, "-c", "import redis; assert int(redis.__version__.split('.')[0]) >= 7")(a)
	if !py {
		t.Log("redis-py is left out: it needs redis-py 7 or later")
	}
	c := newProcessCluster(t, "buckets", "--backups", "1")
	// The nodes have addresses of their own and the same port: redis-py 8 goes to the address that a notice names, not to
	// its port.
	_, port, _ := net.SplitHostPort(freePorts(t, 1)[0])
	start := func(id string) *processNode {
		return c.start(id, "--addr", fmt.Sprintf("127.0.0.%d:%s", 2+len(c.nodes), port))
	}
	for _, id := range []string{"a", "b", "c"} {
		start(id)
	}
	c.settled("a", "b", "c")
	c.copied("a", "b", "c")
	own := c.nodes[1]
	var sent atomic.Int64 // commands of the libraries that run in this process
	goesOn := func(when string, seconds int64) {
		until, last := sent.Load()+seconds*2*libraryRate, ""
		c.await("the libraries go on "+when, func() bool { return sent.Load() >= until }, &last)
	}
	stops := map[string]func() *libraryReport{
		"go-redis": loadByGoRedis(t, own.addr, &sent),
		// Rueidis knows no notices of maintenance, and repeats no write whose connection ends.
		"rueidis": loadByRueidis(t, c.nodes[0].addr, &sent),
	}
	if npm {
		for _, library := range []string{"ioredis", "node-redis"} {
			stops[library] = a.loadByProgram(library, own.addr, "node", "library_load.mjs", library)
		}
	}
	if py {
		stops["redis-py"] = a.loadByProgram("redis-py", own.addr, python, "library_load.py")
	}
	type phase struct {
		name  string
		began time.Time
	}
	var phases []phase
	begins := func(name string) {
		t.Log(name)
		phases = append(phases, phase{name, time.Now()})
	}
	goesOn("before anything happens", 3)
	begins("quiet")
	goesOn("in quiet", 5)
	begins("d joins")
	d := start("d")
	c.settled("a", "b", "c", "d")
	c.copied("a", "b", "c", "d")
	begins("b, the node of the clients, then c and d are stopped and started")
	stopped := own.serverProcess
	for _, n := range c.nodes[1:] {
		n.stop(syscall.SIGTERM)
		n.alive = false
		c.restart(n)
		c.settled("a", "b", "c", "d")
		c.copied("a", "b", "c", "d")
		goesOn("after a restart", libraryPause)
	}
	begins("d leaves")
	client := d.client()
	defer client.Close()
	if err := client.Do(context.Background(), "RING", "LEAVE").Err(); err != nil {
		t.Fatal(err)
	}
	d.alive = false
	c.settled("a", "b", "c")
	goesOn("after the leave", 1)
	begins("the end")
	for library, stop := range stops {
		r := stop()
		t.Logf("%s: %d pairs, failed %v", library, len(r.Pairs), r.Failed)
		for i := range phases[:len(phases)-1] {
			t.Logf("  %s: %s", phases[i].name, r.latencies(phases[i].began, phases[i+1].began))
		}
		if len(r.Failed) > 0 || len(r.Pairs) < 100 {
			t.Errorf("%s: commands have failed", library)
		}
	}
	if t.Failed() {
		t.Logf("the programs said:\n%s\nand b, before it stopped:\n%s\nafter it:\n%s\nand d:\n%s", &a.output, &stopped.log, &own.log, &d.log)
	}
}

// loadByProgram starts a program that takes a URL and a rate after its words.
func (a *appRun) loadByProgram(library, addr string, words ...string) (stop func() *libraryReport) {
	cmd := a.command(addr, words[0], append(words[1:], "redis://"+addr, strconv.FormatInt(libraryRate, 10))...)
	cmd.Env = append(cmd.Env, "PYTHONPATH="+os.Getenv("PYTHONPATH"))
	var out bytes.Buffer
	cmd.Stdout = &out
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		a.t.Fatal(err)
	}
	kill := time.AfterFunc(10*time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	return func() *libraryReport {
		_ = in.Close()
		err := cmd.Wait()
		kill.Stop()
		r := new(libraryReport)
		if err == nil {
			err = json.Unmarshal(out.Bytes(), r)
		}
		if err != nil {
			a.t.Errorf("%s: %v\n%s", library, err, &out)
		}
		return r
	}
}

// loadBy has goroutines write and read by set and get, as the programs do.
func loadBy(library string, sent *atomic.Int64, set func(key, value string) error, get func(key string) (string, error)) (stop func() *libraryReport) {
	const loops = 20
	var over atomic.Bool
	var running sync.WaitGroup
	var mu sync.Mutex
	r := &libraryReport{Failed: make(map[string]int64)}
	tick := 2 * time.Second * loops / time.Duration(libraryRate)
	for i := range loops {
		running.Go(func() {
			// The loops begin one after the other, and stay apart.
			turn := time.Now().Add(tick * time.Duration(i) / loops)
			time.Sleep(time.Until(turn))
			for n := 0; !over.Load(); n++ {
				key, value, began := fmt.Sprintf("%s:%d:%d", library, i, n%500), strconv.Itoa(n), time.Now()
				err := set(key, value)
				if err == nil {
					var got string
					if got, err = get(key); err == nil && got != value {
						err = fmt.Errorf("%s is %s instead of %s", key, got, value)
					}
				}
				took := time.Since(began)
				sent.Add(2)
				mu.Lock()
				r.Pairs = append(r.Pairs, [2]int64{began.UnixMilli(), took.Microseconds()})
				if err != nil {
					r.Failed[err.Error()]++
				}
				mu.Unlock()
				turn = turn.Add(tick * max(1, (time.Since(turn)+tick-1)/tick))
				time.Sleep(time.Until(turn))
			}
		})
	}
	return func() *libraryReport {
		over.Store(true)
		running.Wait()
		return r
	}
}

func loadByGoRedis(t *testing.T, addr string, sent *atomic.Int64) (stop func() *libraryReport) {
	client := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = client.Close() })
	ctx := context.Background()
	return loadBy("go-redis", sent, func(key, value string) error { return client.Set(ctx, key, value, 0).Err() },
		func(key string) (string, error) { return client.Get(ctx, key).Result() })
}

func loadByRueidis(t *testing.T, addr string, sent *atomic.Int64) (stop func() *libraryReport) {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	ctx := context.Background()
	return loadBy("rueidis", sent, func(key, value string) error {
		return client.Do(ctx, client.B().Set().Key(key).Value(value).Build()).Error()
	}, func(key string) (string, error) { return client.Do(ctx, client.B().Get().Key(key).Build()).ToString() })
}
