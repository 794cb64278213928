package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/resp/status"
)

// startNode opens a node in this process; its address is where clients connect.
func startNode(t *testing.T, change func(*node.Config)) (addr string) {
	t.Helper()
	cfg := node.DefaultConfig()
	cfg.Addr, cfg.Dir, cfg.HTTPAddr, cfg.ID = "127.0.0.1:0", t.TempDir(), node.HTTPOff, "first"
	cfg.Cache, cfg.BlockCache = 1<<20, 1<<20
	if change != nil {
		change(&cfg)
	}
	n, err := node.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n.Addr().String()
}

// statusOf runs status until the node is in its cluster.
func statusOf(t *testing.T, environ []string, args ...string) (stdout string) {
	t.Helper()
	code, stderr := 0, ""
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		code, stdout, stderr = ringside(environ, append([]string{"status"}, args...)...)
		if code == 0 || !strings.Contains(stderr, "not in its cluster yet") || time.Now().After(end) {
			break
		}
	}
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	return stdout
}

func TestStatusDrawsTheCluster(t *testing.T) {
	addr := startNode(t, nil)
	text := statusOf(t, nil, "--addr", addr)
	for _, want := range []string{"cluster ringside", "leader first", "256 buckets", addr} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var r status.Report
	if err := json.Unmarshal([]byte(statusOf(t, nil, "--addr", addr, "--json")), &r); err != nil || len(r.Nodes) != 1 || r.Nodes[0].ID != "first" {
		t.Errorf("%v: %+v", err, r)
	}
	// The variables of serve name the node; what they say beside that does not matter.
	_, port, _ := net.SplitHostPort(addr)
	if text := statusOf(t, []string{"RINGSIDE_ADDR=:" + port, "RINGSIDE_DIR=/data", "RINGSIDE_FSYNC=always"}); !strings.Contains(text, "leader first") {
		t.Error(text)
	}
}

func TestStatusGivesThePassword(t *testing.T) {
	addr := startNode(t, func(c *node.Config) { c.RequirePass = "secret" })
	statusOf(t, []string{"RINGSIDE_REQUIREPASS=secret"}, "--addr", addr)
	for want, args := range map[string][]string{
		"refuses the password: it wants one":         nil,
		"refuses the password: it wants another one": {"--requirepass", "guess"},
	} {
		code, _, stderr := ringside(nil, append([]string{"status", "--addr", addr}, args...)...)
		if code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	}
	other := startNode(t, nil)
	statusOf(t, nil, "--addr", other, "--requirepass", "needless")
}

func TestStatusSaysWhyThereIsNone(t *testing.T) {
	nobody, release, err := freeport.Loopback(1)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for name, test := range map[string]struct{ answer, want string }{
		"no Ringside":    {"-ERR unknown command 'RING', with args beginning with: 'STATUS' 'JSON' \r\n", "it does not know RING STATUS"},
		"not Redis":      {"HTTP/1.1 400 Bad Request\r\n\r\n", "is not an answer of a Redis server"},
		"TLS":            {"\x15\x03\x01\x00\x02\x02\x16", "does it speak TLS?"},
		"no report":      {"$3\r\nabc\r\n", "its report cannot be read"},
		"cut off":        {"$300\r\nabc", "cannot be reached"},
		"too long":       {"$99999999999\r\nabc", "is not an answer of a Redis server"},
		"another error":  {"-ERR this node is not in its cluster yet\r\n", "does not tell: ERR this node"},
		"steers":         {"-ERR \x1b[2J\r\n", "ERR \ufffd[2J"},
		"nothing at all": {"", "cannot be reached"},
	} {
		addr := answering(t, test.answer)
		code, stdout, stderr := ringside(nil, "status", "--addr", addr, "--timeout", "5s")
		if code != 1 || stdout != "" || !strings.Contains(stderr, test.want) || !strings.HasPrefix(stderr, "ringside: "+addr+": ") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s", name, code, stderr)
		}
	}
	if code, _, stderr := ringside(nil, "status", "--addr", nobody[0]); code != 1 || !strings.Contains(stderr, "connection refused") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if code, _, stderr := ringside(nil, "status", "--addr", silent.Addr().String(), "--timeout", "50ms"); code != 1 || !strings.Contains(stderr, "no answer in time") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// answering says the same to everybody who says something.
func answering(t *testing.T, text string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 100))
			_, _ = conn.Write([]byte(text))
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		done.Wait()
	})
	return l.Addr().String()
}

func TestStatusReportsEveryFaultAtOnce(t *testing.T) {
	pem := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(pem, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := ringside(nil, "status", "now", "--addr", "7000", "--pass", "x", "--watch=1ms", "--timeout", "0", "--tls-key", "key.pem", "--tls-ca", pem)
	want := strings.ReplaceAll(`ringside: --pass: no such flag; did you mean --requirepass?
ringside: arguments: "now" is not expected; settings are written --name value
ringside: --watch: 1ms is too often: use 100ms or more
ringside: --timeout: 0s leaves no time to answer
ringside: --addr: "7000" is neither of the form host:port, such as 127.0.0.1:6379, nor the path of a Unix socket
ringside: --tls-ca: FILE holds no certificate in PEM form
ringside: --tls-cert: missing: tls-key needs the certificate of the key
See 'ringside status --help'.
`, "FILE", pem)
	if code != 2 || stdout != "" || stderr != want {
		t.Errorf("exit code %d\n%s\nwant\n%s", code, stderr, want)
	}
	for _, args := range [][]string{{"--watch", "often"}, {"--watch=often"}, {"--addr", "127.0.0.1:0"}, {"--addr", "x:y:z"}} {
		if code, _, _ := ringside(nil, append([]string{"status"}, args...)...); code != 2 {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}

// collected is output that can be read while it is written.
type collected struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (c *collected) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(b)
}

func (c *collected) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// Without a terminal frames follow each other; a node that cannot be reached is tried
// again, and the end by Ctrl-C is no failure.
func TestWatchContinuesAfterFailures(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, faults collected
	asked := 0
	w := watcher{timeout: time.Minute, interval: time.Millisecond, out: &out, errors: &faults}
	w.fetch = func(context.Context) (*status.Report, error) {
		if asked++; asked == 2 || asked == 3 {
			return nil, errors.New("127.0.0.1:1: cannot be reached")
		}
		return &status.Report{Cluster: fmt.Sprint("frame-", asked), Nodes: []status.Node{{ID: "a"}}}, nil
	}
	ended := make(chan error, 1)
	go func() { ended <- w.run(ctx) }()
	resptest.WaitFor(t, "frames", func() bool { return strings.Contains(out.String(), "cluster frame-5") })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if text := out.String(); !strings.HasPrefix(text, "cluster frame-1") || !strings.Contains(text, "\n\ncluster frame-4") || strings.Contains(text, "\x1b") {
		t.Error(text)
	}
	if text := faults.String(); text != strings.Repeat("ringside: 127.0.0.1:1: cannot be reached; trying again\n", 2) {
		t.Error(text)
	}
	// As JSON it is a report a line.
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	var lines collected
	w = watcher{fetch: w.fetch, timeout: time.Minute, interval: time.Millisecond, json: true, out: &lines, errors: &faults}
	go func() { ended <- w.run(ctx) }()
	resptest.WaitFor(t, "lines", func() bool { return strings.Count(lines.String(), "\n") >= 3 })
	cancel()
	<-ended
	for line := range strings.Lines(lines.String()) {
		if !json.Valid([]byte(line)) {
			t.Error(line)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestWatchEndsWhenItsOutputIsClosed(t *testing.T) {
	w := watcher{timeout: time.Minute, interval: time.Millisecond, out: broken{}, errors: broken{}}
	w.fetch = func(context.Context) (*status.Report, error) { return &status.Report{}, nil }
	if err := w.run(t.Context()); !errors.Is(err, errFailed) {
		t.Errorf("%v", err)
	}
}

// A frame takes the place of the one before it, and no more than the terminal has.
func TestScreenHoldsOneFrame(t *testing.T) {
	got := screen("one\ntwo\nthree\nfour\nfive\n", 4, 4)
	want := "\x1b[Hone\x1b[K\r\ntwo\x1b[K\r\n… 3 \x1b[K\r\n\x1b[J"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := screen("one\ntwo\n", 80, 24); got != "\x1b[Hone\x1b[K\r\ntwo\x1b[K\r\n\x1b[J" {
		t.Errorf("%q", got)
	}
	for height := range 5 {
		screen("a\nb\nc\nd\ne\nf", 0, height)
	}
}

func TestStatusAsAProcess(t *testing.T) {
	addr := startNode(t, nil)
	statusOf(t, nil, "--addr", addr)
	cmd := exec.Command(os.Args[0], "status", "--addr", addr, "--watch", "100ms")
	cmd.Env = append(os.Environ(), "RINGSIDE_TEST_AS_COMMAND=1")
	var out collected
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "two frames", func() bool { return strings.Count(out.String(), "cluster ringside") >= 2 })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, &out)
	}
}
