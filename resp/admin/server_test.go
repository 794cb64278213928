package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// engine is an Engine in a state of the test's choice.
type engine struct {
	refusal error
	fatal   chan struct{}
}

func (e *engine) Writable() error        { return e.refusal }
func (e *engine) Fatal() <-chan struct{} { return e.fatal }

// serve starts a server and returns its base URL; stop ends it.
func serve(t *testing.T, cfg Config) (url string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, cfg)
}

func serveOn(t *testing.T, l net.Listener, cfg Config) (url string, stop func()) {
	t.Helper()
	if cfg.Health == nil {
		cfg.Health = &Health{}
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	return "http://" + l.Addr().String(), func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

func TestHealth(t *testing.T) {
	health := &Health{}
	url, stop := serve(t, Config{Health: health})
	defer stop()
	check := func(path string, wantStatus int, wantBody string) {
		t.Helper()
		if status, body := get(t, url+path); status != wantStatus || !strings.Contains(body, wantBody) {
			t.Errorf("%s: %d %q, want %d %q", path, status, body, wantStatus, wantBody)
		}
	}
	check("/healthz", 200, "ok")
	check("/livez", 200, "ok")
	check("/readyz", 503, "starting")
	check("/readyz?verbose", 503, "process failed: starting\n")

	e := &engine{fatal: make(chan struct{})}
	health.Started(e)
	check("/healthz", 200, "ok")
	check("/readyz", 200, "ok")

	var missing error
	note := ""
	health.Also(func() []Check { return []Check{{Name: "lease", Err: missing}, {Name: "ranges", Note: note}} })
	missing = errors.New("not in a cluster yet")
	check("/healthz", 200, "ok")
	check("/readyz", 503, "not in a cluster yet")
	missing, note = nil, "3 ranges are away"
	check("/readyz", 200, "ok: 3 ranges are away\n")
	check("/readyz?verbose", 200, "process ok\nstorage ok\nlease ok\nranges ok: 3 ranges are away\nwrites ok\n")

	e.refusal = errors.New("disk almost full")
	missing = errors.New("no majority")
	check("/healthz", 200, "ok")
	check("/livez", 200, "ok")
	check("/readyz", 503, "no majority\n")
	check("/readyz?verbose", 503, "lease failed: no majority\nranges ok: 3 ranges are away\nwrites failed: writes are refused: disk almost full\n")
	missing = nil
	check("/readyz", 503, "writes are refused: disk almost full")

	e.refusal = errors.New("storage engine stopped")
	close(e.fatal)
	check("/healthz", 503, "storage engine stopped")
	check("/livez", 503, "storage engine stopped")
	check("/readyz", 503, "storage engine stopped")

	health.Stopping()
	check("/readyz", 503, "stopping")
}

func TestIndexListsPages(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "live") })
	url, stop := serve(t, Config{Metrics: page, Pages: []Page{{Path: "/live", Title: "what <happens>", Handler: page}}})
	defer stop()
	_, body := get(t, url+"/")
	for _, want := range []string{`href="/healthz"`, `href="/readyz"`, `href="/metrics"`, `href="/debug/pprof/"`, `href="/live"`, "what &lt;happens&gt;"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	if status, _ := get(t, url+"/nothing"); status != 404 {
		t.Errorf("unknown page: %d", status)
	}
	r, err := http.Post(url+"/healthz", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", r.StatusCode)
	}
}

// Health checks need no user, and POST is for the pages that take it.
func TestUsersAreAdmitted(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Method) })
	url, stop := serve(t, Config{
		Pages: []Page{{Path: "/live", Title: "x", Handler: page}, {Path: "/orders", Title: "x", Handler: page, Post: true}},
		Admit: func(r *http.Request) (int, string) {
			switch user, _, _ := r.BasicAuth(); user {
			case "ada":
				return 0, ""
			case "eve":
				return http.StatusForbidden, "not eve"
			}
			return http.StatusUnauthorized, "who is it?"
		},
	})
	defer stop()
	for _, tt := range []struct{ method, path, user, want string }{
		{"GET", "/live", "ada", "200 GET"},
		{"GET", "/live", "eve", "403 not eve\n"},
		{"GET", "/live", "", "401 who is it?\n"},
		{"GET", "/", "", "401 who is it?\n"},
		{"GET", "/debug/pprof/cmdline", "", "401 who is it?\n"},
		{"GET", "/nothing", "", "401 who is it?\n"},
		{"GET", "/livez", "", "200 ok\n"},
		{"POST", "/orders", "ada", "200 POST"},
		{"POST", "/orders", "", "401 who is it?\n"},
		{"POST", "/live", "ada", "405 Method Not Allowed\n"},
	} {
		r, err := http.NewRequest(tt.method, url+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.user != "" {
			r.SetBasicAuth(tt.user, "x")
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if got := fmt.Sprint(reply.StatusCode, " ", string(body)); got != tt.want || err != nil {
			t.Errorf("%s %s as %q: %q, %v, want %q", tt.method, tt.path, tt.user, got, err, tt.want)
		}
		if asks := reply.Header.Get("WWW-Authenticate") != ""; asks != (reply.StatusCode == 401) {
			t.Errorf("%s: the browser asks for a user: %v", tt.path, asks)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no health": {},
		"no path":   {Health: &Health{}, Pages: []Page{{Path: "", Title: "x"}}},
		"index":     {Health: &Health{}, Pages: []Page{{Path: "/", Title: "x"}}},
		"twice":     {Health: &Health{}, Pages: []Page{{Path: "/healthz", Title: "x"}}},
		"pattern":   {Health: &Health{}, Pages: []Page{{Path: "/{x}", Title: "x"}}},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestProfilesAreForThisHost(t *testing.T) {
	for _, test := range []struct {
		remote, host string
		want         int
	}{
		{"127.0.0.1:1234", "localhost:8379", 200},
		{"127.0.0.1:1234", "127.0.0.1:8379", 200},
		{"[::1]:1234", "[::1]:8379", 200},
		{"[::ffff:127.0.0.1]:1234", "localhost", 200},
		{"10.0.0.1:1234", "localhost:8379", 403},
		{"127.0.0.1:1234", "evil.example:8379", 403},
		{"nonsense", "localhost", 403},
	} {
		r := httptest.NewRequest("GET", "/debug/pprof/cmdline", nil)
		r.RemoteAddr, r.Host = test.remote, test.host
		w := httptest.NewRecorder()
		profiles().ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("from %s for %s: %d, want %d", test.remote, test.host, w.Code, test.want)
		}
	}
}

// A connection that never sends anything, one that stops half-way and two idle ones do not
// keep Close waiting. Time is virtual: the library alone would wait five seconds.
func TestCloseWaitsForNoSilentConnection(t *testing.T) {
	defer goleak.VerifyNone(t)
	fakenet.Bubble(t, func(t *testing.T) {
		network := fakenet.New(1, time.Millisecond, 0)
		l, err := network.Host("10.0.0.1").Listen("10.0.0.1:80")
		if err != nil {
			t.Fatal(err)
		}
		_, stop := serveOn(t, l, Config{})
		const whole = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
		for _, send := range []string{"", "GET /heal", whole, whole} {
			c, err := network.Host("10.0.0.2").Dial(t.Context(), "10.0.0.1:80")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			io.WriteString(c, send)
			if send == whole {
				c.Read(make([]byte, 1)) // it is idle then
			}
		}
		start := time.Now()
		stop()
		if took := time.Since(start); took > time.Second {
			t.Errorf("Close took %v", took)
		}
	})
}

func TestCloseCutsOff(t *testing.T) {
	defer goleak.VerifyNone(t)
	runs := make(chan struct{})
	s, err := New(Config{Health: &Health{}, Pages: []Page{{Path: "/slow", Title: "waits", Handler: http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) {
			close(runs)
			<-r.Context().Done()
		})}}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(l)
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
	<-runs
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close: %v", err)
	}
	<-served
}

func TestLongHeadersAreRefused(t *testing.T) {
	url, stop := serve(t, Config{})
	defer stop()
	r, err := http.NewRequest("GET", url+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Long", strings.Repeat("x", 64<<10))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := client.Do(r)
	if err != nil {
		return // cut off while it was still sending
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", resp.StatusCode)
	}
}
