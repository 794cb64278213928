package node

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

func openTest(t *testing.T, change func(*Config)) *Node {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Addr, cfg.Dir = "127.0.0.1:0", t.TempDir()
	if change != nil {
		change(&cfg)
	}
	n, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() }) // again, where the test has closed it
	return n
}

func fetch(t *testing.T, n *Node, path string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get("http://" + n.HTTPAddr().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

func TestDataSurvivesCloseAndOpen(t *testing.T) {
	defer goleak.VerifyNone(t, exceptProfile)
	dir := t.TempDir()
	for i, want := range []string{"", "1"} {
		n := openTest(t, func(c *Config) { c.Dir = dir })
		client := redistest.Client(&redis.Options{Addr: n.Addr().String()})
		if got := client.Get(t.Context(), "key").Val(); got != want {
			t.Errorf("start %d: key = %q, want %q", i, got, want)
		}
		if err := client.Set(t.Context(), "key", "1", 0).Err(); err != nil {
			t.Error(err)
		}
		_ = client.Close()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMetricsAndHealth(t *testing.T) {
	defer goleak.VerifyNone(t, exceptProfile)
	n := openTest(t, nil)
	resptest.WaitFor(t, "ready", func() bool {
		code, _ := fetch(t, n, "/readyz")
		return code == http.StatusOK
	})
	for _, path := range []string{"/healthz", "/readyz", "/"} {
		if code, body := fetch(t, n, path); code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	client := redistest.Client(&redis.Options{Addr: n.Addr().String()})
	if err := client.Set(t.Context(), "key", "1", 0).Err(); err != nil {
		t.Error(err)
	}
	_ = client.Close()
	if _, body := fetch(t, n, "/metrics"); !strings.Contains(body, `ringside_command_duration_seconds_count{command="set"} 1`) {
		t.Errorf("no SET in the metrics:\n%s", body)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

func TestShutdownAsksToClose(t *testing.T) {
	defer goleak.VerifyNone(t, exceptProfile)
	n := openTest(t, func(c *Config) { c.HTTPAddr = HTTPOff })
	client := redistest.Client(&redis.Options{Addr: n.Addr().String(), MaxRetries: -1})
	told := make(chan struct{})
	go func() {
		defer close(told)
		client.ShutdownNoSave(t.Context()) // answered by the end of the connection
	}()
	<-n.Done()
	if err := n.Err(); err != nil {
		t.Error(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	<-told
	_ = client.Close()
}

// A failed start leaves nothing behind: neither ports nor a locked directory.
func TestFailedOpenLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, exceptProfile)
	dir := t.TempDir()
	n := openTest(t, func(c *Config) { c.Dir = dir })
	cfg := DefaultConfig()
	cfg.Addr, cfg.Dir = "127.0.0.1:0", dir
	if _, err := Open(cfg); err == nil {
		t.Error("a directory in use was opened")
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if n, err := Open(cfg); err != nil {
		t.Error(err)
	} else if err := n.Close(); err != nil {
		t.Error(err)
	}
}
