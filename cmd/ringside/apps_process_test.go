package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// An application is a job queue of others, unmodified: programs that produce jobs and work on them, in a
// database that is kept together. Each job adds its name to the set "done".
type application struct {
	name string
	// packages are what has to be installed, for the message when it is not.
	packages string
	jobs     int
	// losesTaken: the queue takes a job off its list before it works on it, or gives up a job whose step got no
	// reply, as Celery does with a chord. A reply that is lost is a job that is lost, with Redis, too. Then no
	// node dies through which clients come, and none that has the jobs.
	losesTaken bool
	// has reports whether all is installed.
	has func(a *appRun) bool
	// produce and work are commands, for the address of a node.
	produce, work func(a *appRun, addr string) *exec.Cmd
}

// python is that of Debian, which has Debian's packages.
const python = "/usr/bin/python3"

// appDatabase is the database that is kept together.
const appDatabase = 1

func appURL(addr string) string { return fmt.Sprintf("redis://%s/%d", addr, appDatabase) }

func program(words ...string) func(*appRun) bool {
	return func(a *appRun) bool {
		c := exec.Command(words[0], words[1:]...)
		c.Dir = a.dir
		return c.Run() == nil
	}
}

var applications = []application{
	{
		name: "celery", packages: "python3-celery and python3-redis", jobs: 300, losesTaken: true,
		has: program(python, "-c", "import celery, redis"),
		produce: func(a *appRun, addr string) *exec.Cmd {
			return a.command(addr, python, "celery_app.py", appURL(addr), strconv.Itoa(a.jobs))
		},
		work: func(a *appRun, addr string) *exec.Cmd {
			return a.command(addr, python, "-m", "celery", "-A", "celery_app", "worker", "--pool", "threads", "-c", "4", "-l", "error",
				"--without-gossip", "--without-mingle", "-n", "worker"+strings.ReplaceAll(addr, ":", "-")+"@%h")
		},
	},
	{
		name: "rq", packages: "python3-rq and python3-redis", jobs: 200, losesTaken: true,
		has: program(python, "-c", "import rq, redis"),
		produce: func(a *appRun, addr string) *exec.Cmd {
			return a.command(addr, python, "rq_app.py", "produce", appURL(addr), strconv.Itoa(a.jobs))
		},
		work: func(a *appRun, addr string) *exec.Cmd {
			return a.command(addr, python, "rq_app.py", "work", appURL(addr))
		},
	},
	{
		name: "sidekiq", packages: "ruby-sidekiq", jobs: 500, losesTaken: true,
		has: program("ruby", "-e", "require 'sidekiq'"),
		produce: func(a *appRun, addr string) *exec.Cmd {
			return a.command(addr, "ruby", "sidekiq_app.rb", "produce", appURL(addr), strconv.Itoa(a.jobs))
		},
		work: func(a *appRun, addr string) *exec.Cmd {
			return a.command(addr, "sidekiq", "-r", "./sidekiq_app.rb", "-q", "high", "-q", "low", "-c", "5")
		},
	},
	{
		name: "bullmq", packages: "npm, and from it bullmq@5.34.0", jobs: 500,
		has: program("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "bullmq@5.34.0", "ioredis@5.4.1"),
		produce: func(a *appRun, addr string) *exec.Cmd {
			return a.command(addr, "node", "bullmq_app.mjs", "produce", appURL(addr), strconv.Itoa(a.jobs))
		},
		work: func(a *appRun, addr string) *exec.Cmd {
			return a.command(addr, "node", "bullmq_app.mjs", "work", appURL(addr))
		},
	},
	{
		name: "asynq", packages: "the Go module github.com/hibiken/asynq", jobs: 500,
		has: func(a *appRun) bool {
			module := "module asynqapp\n\ngo 1.25\n\nrequire github.com/hibiken/asynq v0.26.0\n"
			source, err := os.ReadFile(filepath.Join(a.dir, "asynq_app.go.txt"))
			if err != nil || os.WriteFile(filepath.Join(a.dir, "main.go"), source, 0o600) != nil ||
				os.WriteFile(filepath.Join(a.dir, "go.mod"), []byte(module), 0o600) != nil {
				return false
			}
			return program("go", "mod", "tidy")(a) && program("go", "build", "-o", "asynqapp", ".")(a)
		},
		produce: func(a *appRun, addr string) *exec.Cmd {
			return a.command(addr, "./asynqapp", "produce", addr, strconv.Itoa(appDatabase), strconv.Itoa(a.jobs))
		},
		work: func(a *appRun, addr string) *exec.Cmd {
			return a.command(addr, "./asynqapp", "work", addr, strconv.Itoa(appDatabase))
		},
	},
	phpQueue("predis", "php-cli and php-nrk-predis", "require 'Predis/Autoloader.php';"),
	phpQueue("phpredis", "php-cli and php-redis", "new Redis();"),
}

// phpQueue is the queue of PHP frameworks by one of PHP's libraries.
func phpQueue(library, packages, has string) application {
	return application{
		name: library, packages: packages, jobs: 500,
		has: program("php", "-r", has),
		produce: func(a *appRun, addr string) *exec.Cmd {
			return a.command(addr, "php", "queue_app.php", library, "produce", appURL(addr), strconv.Itoa(a.jobs))
		},
		work: func(a *appRun, addr string) *exec.Cmd {
			return a.command(addr, "php", "queue_app.php", library, "work", appURL(addr))
		},
	}
}

// An appRun is one run of an application on a cluster.
type appRun struct {
	application
	t   *testing.T
	dir string

	mu     sync.Mutex
	output bytes.Buffer // of all programs
}

func (a *appRun) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.output.Write(b)
}

func (a *appRun) command(addr, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir, c.Stdout, c.Stderr = a.dir, a, a
	c.Env = append(os.Environ(), "APP_URL="+appURL(addr), "PYTHONPATH="+a.dir)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// supervise keeps a worker running, as a service manager does, until the context ends.
func (a *appRun) supervise(ctx context.Context, addr string) {
	for ctx.Err() == nil {
		c := a.work(a, addr)
		if err := c.Start(); err != nil {
			a.t.Errorf("the worker does not start: %v", err)
			return
		}
		stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
		_ = c.Wait()
		if stop() {
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
}

// TestJobQueuesLoseNothing runs job queues through any node of three while nodes are killed and join: each
// job is done.
func TestJobQueuesLoseNothing(t *testing.T) {
	if os.Getenv("RINGSIDE_APPS") == "" {
		t.Skip("it runs programs of others: go tool task test:apps runs it")
	}
	for _, app := range applications {
		t.Run(app.name, func(t *testing.T) {
			a := &appRun{application: app, t: t, dir: t.TempDir()}
			if err := os.CopyFS(a.dir, os.DirFS(filepath.Join("testdata", "apps"))); err != nil {
				t.Fatal(err)
			}
			if !app.has(a) {
				t.Skipf("needs %s", app.packages)
			}
			a.run()
		})
	}
}

func (a *appRun) run() {
	t := a.t
	c := newProcessCluster(t, "buckets", "--together", strconv.Itoa(appDatabase), "--backups", "1")
	for _, id := range []string{"a", "b", "c"} {
		c.start(id)
	}
	c.copied("a", "b", "c")
	nodes := maps.Collect(func(yield func(string, *processNode) bool) {
		for _, n := range c.nodes {
			yield(n.id, n)
		}
	})
	// The node that has the database is nodes[home].
	home := c.home(c.nodes[0])
	ids := slices.Sorted(maps.Keys(nodes))
	victim := ids[slices.IndexFunc(ids, func(id string) bool { return (id == home) != a.losesTaken })]
	rest := slices.DeleteFunc(ids, func(id string) bool { return id == victim })
	ctx, stop := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	defer func() {
		stop()
		workers.Wait()
		if t.Failed() {
			t.Logf("the programs said:\n%s", &a.output)
		}
	}()
	// Clients find a node at the address of their own node, wherever it dies.
	for _, id := range rest {
		workers.Go(func() { a.supervise(ctx, nodes[id].addr) })
	}
	producer := a.produce(a, nodes[rest[0]].addr)
	if err := producer.Start(); err != nil {
		t.Fatal(err)
	}
	client := nodes[rest[1]].client()
	defer client.Close()
	conn := client.Conn()
	defer conn.Close()
	if err := conn.Select(ctx, appDatabase).Err(); err != nil {
		t.Fatal(err)
	}
	done := func() int {
		n, err := conn.Do(ctx, "SCARD", "done").Int()
		if err != nil {
			return 0
		}
		return n
	}
	last := ""
	c.await("a fifth of the jobs are done", func() bool { last = fmt.Sprint(done()); return done() >= a.jobs/5 }, &last)
	t.Logf("%s, which has the database: %v, is killed after %s jobs", victim, victim == home, last)
	nodes[victim].kill()
	c.start("d")
	if err := producer.Wait(); err != nil {
		t.Errorf("the producer: %v", err)
	}
	c.restart(nodes[victim])
	jobs := func() []string {
		all, err := conn.SMembers(ctx, "done").Result()
		if err != nil {
			last = err.Error()
		}
		return slices.DeleteFunc(all, func(job string) bool { return !strings.HasPrefix(job, "job-") })
	}
	// A queue gives a job that it lost sight of to another worker after its own time: Asynq after two minutes.
	c.awaitFor(3*clusterPatience, "all jobs are done", func() bool {
		all := jobs()
		last = fmt.Sprintf("%d of %d", len(all), a.jobs)
		return len(all) == a.jobs
	}, &last)
}

// TestJuiceFSMetadata runs the tests of the metadata engine of JuiceFS on a cluster of three, in database 10, which is
// kept together, and in database 2, which is spread and used as by a client of Redis Cluster, while a fourth node joins
// and another one is stopped and started. RINGSIDE_TEST_JUICEFS names the tests' program, as "go test -c ./pkg/meta"
// builds it in a checkout of JuiceFS. It connects to port 6379 and, for a cluster, to 7001, 7002 and 7003.
func TestJuiceFSMetadata(t *testing.T) {
	path := os.Getenv("RINGSIDE_TEST_JUICEFS")
	if path == "" {
		t.Skip("RINGSIDE_TEST_JUICEFS names no program")
	}
	c := newProcessCluster(t, "buckets", "--together", "1,3,10", "--backups", "1")
	for i, port := range []string{"6379", "7001", "7002", "7003"} {
		c.start(string(rune('a'+i)), "--addr", "127.0.0.1:"+port)
	}
	c.copied("a", "b", "c", "d")
	for _, tests := range []string{"TestRedisClient", "TestRedisCluster", "TestRedisBatch|TestRedisHscan|TestRedisCache|TestRedisStale|TestRedisLock"} {
		a := &appRun{t: t, dir: t.TempDir()}
		run := a.command(c.nodes[0].addr, path, "-test.v", "-test.timeout", "5m", "-test.run", tests)
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- run.Wait() }()
		if tests == "TestRedisClient" {
			c.start("e")
			c.nodes[1].stop(syscall.SIGTERM)
			c.restart(c.nodes[1])
		}
		if err := <-ended; err != nil || !strings.Contains(a.output.String(), "--- PASS") || strings.Contains(a.output.String(), "--- SKIP") {
			t.Errorf("%s: %v\n%s", tests, err, &a.output)
		}
	}
}

// home returns the id of the node that has the database.
func (c *processCluster) home(n *processNode) string {
	client := n.client()
	defer client.Close()
	about, err := client.Do(context.Background(), "RING", "DATABASE", strconv.Itoa(appDatabase)).Text()
	if err != nil {
		c.t.Fatal(err)
	}
	_, id, _ := strings.Cut(about, "primary:")
	id, _, _ = strings.Cut(id, "\r\n")
	return id
}
