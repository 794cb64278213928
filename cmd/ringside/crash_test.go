package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
)

// TestCrash kills the process again and again while clients write, and looks after
// each restart whether everything acknowledged is there: kill -9 must lose nothing
// in any fsync mode.
func TestCrash(t *testing.T) {
	randomtest.Draw(t, 3)
	t.Parallel() // it waits most of the time
	kills := 3
	if os.Getenv("RINGSIDE_LONG") != "" {
		kills = 40
	}
	for _, fsync := range []string{"everysec", "always", "no"} {
		t.Run(fsync, func(t *testing.T) {
			t.Parallel() // it waits most of the time
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			dir := filepath.Join(t.TempDir(), "data")
			workers := make([]*crashWorker, 6)
			for i := range workers {
				workers[i] = newCrashWorker(i, seed)
			}
			pauses := rand.New(rand.NewPCG(seed, 99))
			for round := range kills + 1 {
				p := startServer(t, "--dir", dir, "--fsync", fsync, "--memtable-size", "1mb")
				checkAll(t, p.addr, workers)
				if round < kills {
					p.under(t, workers, time.Duration(pauses.IntN(400)+50)*time.Millisecond, syscall.SIGKILL)
				} else {
					p.under(t, workers, 100*time.Millisecond, syscall.SIGTERM)
					if code := p.cmd.ProcessState.ExitCode(); code != 0 {
						t.Errorf("exit code %d after SIGTERM", code)
					}
				}
				if t.Failed() {
					t.Fatalf("after kill %d", round)
				}
			}
			p := startServer(t, "--dir", dir, "--fsync", fsync)
			checkAll(t, p.addr, workers)
			p.stop(syscall.SIGTERM)
		})
	}
}

// A serverProcess is a child that runs the command.
type serverProcess struct {
	cmd  *exec.Cmd
	addr string
	log  processLog
	read chan struct{} // closed at the end of its log
}

// A processLog is what a process has said so far.
type processLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *processLog) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.WriteString(line + "\n")
}

func (l *processLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var listening = regexp.MustCompile(`msg=listening addr=(\S+)`)

func startServer(t *testing.T, args ...string) *serverProcess {
	t.Helper()
	return startBinary(t, os.Args[0], args...)
}

// startBinary runs a binary of any build.
func startBinary(t *testing.T, binary string, args ...string) *serverProcess {
	t.Helper()
	args = append([]string{"serve", "--addr", "127.0.0.1:0", "--http-addr", "off"}, args...)
	p := &serverProcess{cmd: exec.Command(binary, args...), read: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "RINGSIDE_TEST_AS_COMMAND=1")
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	addr := make(chan string, 1)
	go func() {
		defer close(p.read)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.log.add(lines.Text())
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				addr <- m[1]
			}
		}
	}()
	t.Cleanup(func() { p.stop(syscall.SIGKILL) })
	select {
	case p.addr = <-addr:
	case <-p.read:
		t.Fatalf("the server did not start:\n%s", &p.log)
	case <-time.After(clusterPatience):
		t.Fatalf("the server did not start in %s", clusterPatience)
	}
	return p
}

// stop sends a signal and waits until the process is gone.
func (p *serverProcess) stop(signal os.Signal) {
	if p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Signal(signal)
	<-p.read
	_ = p.cmd.Wait()
}

// under lets the workers write for a while and then sends a signal.
func (p *serverProcess) under(t *testing.T, workers []*crashWorker, d time.Duration, signal os.Signal) {
	t.Helper()
	client := crashClient(p.addr)
	defer func() { _ = client.Close() }()
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(func() { w.write(client) })
		wg.Go(func() { w.watch(client) })
	}
	time.Sleep(d) // the load's length, nothing that the test relies on
	p.stop(signal)
	wg.Wait()
}

// noLog keeps the client's view of a killed server out of the test's output.
type noLog struct{}

func (noLog) Printf(context.Context, string, ...any) {}

func init() { redis.SetLogger(noLog{}) }

func crashClient(addr string) *redis.Client {
	return redistest.Client(&redis.Options{Addr: addr, MaxRetries: -1, PoolSize: 16, ContextTimeoutEnabled: true})
}

// checkAll compares the data with what the workers know, and the count of keys with
// a scan.
func checkAll(t *testing.T, addr string, workers []*crashWorker) {
	t.Helper()
	client := crashClient(addr)
	defer func() { _ = client.Close() }()
	for _, w := range workers {
		w.check(t, client)
	}
	ctx := context.Background()
	n := int64(0)
	for iter := client.Scan(ctx, 0, "", 1000).Iterator(); iter.Next(ctx); {
		n++
	}
	if size := client.DBSize(ctx).Val(); size != n {
		t.Errorf("DBSIZE says %d keys, a scan finds %d", size, n)
	}
}

const crashKeys = 40

// A crashWorker is the only one to write its keys. It knows, for each, every state
// that the key may have after a crash: the last acknowledged one first, then what
// each write on its way would have made of it.
type crashWorker struct {
	id     int
	rnd    *rand.Rand
	states map[string][]*string // nil: no such key
	// seen is the highest value of the worker's counter that a reader was shown.
	seen int64
}

func newCrashWorker(id int, seed uint64) *crashWorker {
	w := &crashWorker{id: id, rnd: rand.New(rand.NewPCG(seed, uint64(id))), states: map[string][]*string{}}
	for i := range crashKeys {
		w.states[w.key(i)] = []*string{nil}
	}
	w.states[w.counter()] = []*string{nil}
	return w
}

func (w *crashWorker) key(i int) string { return fmt.Sprintf("w%d:%d", w.id, i) }
func (w *crashWorker) counter() string  { return fmt.Sprintf("w%d:n", w.id) }

// write sends pipelines until the server is gone.
func (w *crashWorker) write(client *redis.Client) {
	ctx := context.Background()
	for {
		pipe := client.Pipeline()
		touched := map[string]bool{}
		for range 1 + w.rnd.IntN(16) {
			touched[w.add(ctx, pipe)] = true
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return // what is on its way stays possible
		}
		for key := range touched {
			s := w.states[key]
			w.states[key] = s[len(s)-1:]
		}
	}
}

// add adds a random write to a pipeline and returns its key.
func (w *crashWorker) add(ctx context.Context, pipe redis.Pipeliner) string {
	key := w.key(w.rnd.IntN(crashKeys))
	op := w.rnd.IntN(10)
	if op < 2 {
		key = w.counter()
	}
	s := w.states[key]
	old := ""
	if last := s[len(s)-1]; last != nil {
		old = *last
	}
	var next *string
	switch {
	case op < 2:
		n, _ := strconv.Atoi(old)
		v := strconv.Itoa(n + 1)
		next = &v
		pipe.Incr(ctx, key)
	case op < 3:
		pipe.Del(ctx, key)
	case op < 5 && len(old) < 200_000:
		add := w.value(300)
		v := old + add
		next = &v
		pipe.Append(ctx, key, add)
	case op < 6:
		part, off := w.value(200), w.rnd.IntN(70_000)
		b := []byte(old)
		if grow := off + len(part) - len(b); grow > 0 {
			b = append(b, make([]byte, grow)...)
		}
		copy(b[off:], part)
		v := string(b)
		next = &v
		pipe.SetRange(ctx, key, int64(off), part)
	default:
		limit := 500
		if w.rnd.IntN(20) == 0 {
			limit = 150_000
		}
		v := w.value(limit)
		next = &v
		pipe.Set(ctx, key, v, 0)
	}
	w.states[key] = append(s, next)
	return key
}

func (w *crashWorker) value(limit int) string {
	word := fmt.Sprintf("<%d:%d>", w.id, w.rnd.Uint64())
	return strings.Repeat(word, 1+w.rnd.IntN(limit)/len(word))
}

// watch reads the counter: what anybody was shown must not be taken back.
func (w *crashWorker) watch(client *redis.Client) {
	for {
		n, err := client.Get(context.Background(), w.counter()).Int64()
		if err == redis.Nil {
			continue
		}
		if err != nil {
			return
		}
		w.seen = n
	}
}

// check compares every key with its possible states, and goes on from what it is.
func (w *crashWorker) check(t *testing.T, client *redis.Client) {
	t.Helper()
	ctx := context.Background()
	for key, states := range w.states {
		var found *string
		got, err := client.Get(ctx, key).Result()
		switch {
		case err == nil:
			found = &got
		case err != redis.Nil:
			t.Errorf("GET %s: %v", key, err)
			continue
		}
		possible := false
		for _, s := range states {
			if s == nil && found == nil || s != nil && found != nil && *s == *found {
				possible = true
			}
		}
		if !possible {
			t.Errorf("%s: %s is none of the %d states that it may have, the acknowledged one %s",
				key, brief(found), len(states), brief(states[0]))
		}
		w.states[key] = []*string{found}
	}
	if n, _ := client.Get(ctx, w.counter()).Int64(); n < w.seen {
		t.Errorf("%s is %d, but a reader was shown %d", w.counter(), n, w.seen)
	}
}

func brief(s *string) string {
	if s == nil {
		return "no value"
	}
	return fmt.Sprintf("%d bytes %.40q", len(*s), *s)
}
