package live

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

func read(query url.Values) (sim.Config, report.PageOptions, error) {
	cfg := sim.DefaultConfig()
	cfg.Keys, cfg.Scenario, cfg.Strategies = 1000, query.Get("scenario"), []string{"buckets"}
	if cfg.Scenario == "bad" {
		return cfg, report.PageOptions{}, errors.New("what is bad?")
	}
	return cfg, report.PageOptions{Dials: []report.Dial{{Name: "scenario"}}}, nil
}

func ask(h http.Handler, host, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = host
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestHandlerAnswersThisMachineOnly(t *testing.T) {
	h := NewHandler(Config{Read: read})
	for host, want := range map[string]int{
		"127.0.0.1:8379": 200, "localhost:8379": 200, "localhost": 200, "[::1]:8379": 200, "[::1]": 200, "127.9.9.9": 200,
		"evil.example:8379": 403, "localhost.evil.example": 403, "192.168.1.5:8379": 403, "": 403, "127.0.0.1.evil.example": 403,
	} {
		for _, path := range []string{"/", "/data"} {
			if got := ask(h, host, path).Code; got != want {
				t.Errorf("%s of %q: %d, want %d", path, host, got, want)
			}
		}
	}
	if got := ask(h, "localhost", "/data", "Sec-Fetch-Site", "cross-site").Code; got != http.StatusForbidden {
		t.Errorf("another site gets %d", got)
	}
}

func TestHandlerSimulatesTheQuery(t *testing.T) {
	h := NewHandler(Config{Read: read})
	page := ask(h, "localhost", "/?scenario=add+3")
	if text := page.Body.String(); !strings.Contains(text, "through 3 steps") || !strings.Contains(text, "connect-src &#39;self&#39;") || !strings.HasPrefix(page.Header().Get("Content-Type"), "text/html") {
		t.Errorf("%.300s", text)
	}
	if text := ask(h, "localhost", "/data?scenario=add+2").Body.String(); !strings.HasPrefix(text, "{") || !strings.Contains(text, "through 2 steps") {
		t.Errorf("%.300s", text)
	}
	if bad := ask(h, "localhost", "/data?scenario=bad"); bad.Code != http.StatusBadRequest || bad.Body.String() != "what is bad?\n" {
		t.Errorf("%d %s", bad.Code, bad.Body)
	}
	for _, path := range []string{"/other", "/data/x"} {
		if got := ask(h, "localhost", path).Code; got != http.StatusNotFound {
			t.Errorf("%s: %d", path, got)
		}
	}
}

func TestHandlerSimulatesOneAtATimeUntilRequestsEnd(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most, ran := 0, 0, 0
		h := NewHandler(Config{Read: read, Run: func(ctx context.Context, _ sim.Config) (*sim.Report, error) {
			mu.Lock()
			running, ran = running+1, ran+1
			most = max(most, running)
			mu.Unlock()
			<-ctx.Done()
			mu.Lock()
			running--
			mu.Unlock()
			return nil, ctx.Err()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 1 + mostWaiting {
			all.Go(func() {
				r := httptest.NewRequest(http.MethodGet, "/data", nil).WithContext(ctx)
				r.Host = "localhost"
				h.ServeHTTP(httptest.NewRecorder(), r)
			})
		}
		synctest.Wait()
		if got := ask(h, "localhost", "/data").Code; got != http.StatusServiceUnavailable {
			t.Errorf("one too many gets %d", got)
		}
		mu.Lock()
		if ran != 1 {
			t.Errorf("%d run", ran)
		}
		mu.Unlock()
		cancel()
		all.Wait()
		if most != 1 || running != 0 {
			t.Errorf("%d ran at a time, %d still run", most, running)
		}
	})
}

func TestListenRefusesOtherInterfaces(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.168.1.5:0", "example.com:80", "nonsense"} {
		if l, err := Listen(t.Context(), addr); err == nil {
			l.Close()
			t.Errorf("%s is accepted", addr)
		}
	}
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}
