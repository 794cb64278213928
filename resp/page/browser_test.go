package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/decisions"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
)

// A seen is what the page shows in a window of some width.
type seen struct {
	Width, Wide int // of the window, and of what it shows
	HTML        string
}

// probe is added to the page: it sends what is shown once there are so many nodes in the table and on the circle, and
// a plan that it has asked for.
const probe = `
const wanted = [2, 1];
let asked = false, throttled = "";
const timer = setInterval(() => {
  if (document.querySelectorAll("#nodes tr").length !== wanted[0] || document.querySelectorAll("#legend li").length !== wanted[0]) return;
  const form = document.getElementById("whatif"), login = document.getElementById("login"), order = document.getElementById("order");
  const answer = document.getElementById("order-answer");
  if (!asked) {
    asked = true;
    form.words.value = "n9:2 n10"; form.requestSubmit();
    login.user.value = "ada"; login.password.value = "sécret"; login.requestSubmit();
  }
  const shown = (e) => getComputedStyle(e).display !== "none";
  if (shown(login) === shown(order)) return;
  if (shown(order) && answer.textContent === "logged in as ada" && login.password.value === "") {
    [...order.kind.options].find((o) => o.textContent.startsWith("bound")).selected = true;
    order.kind.dispatchEvent(new Event("change"));
    order.words.value = "50mb"; order.requestSubmit();
  }
  const whose = document.getElementById("whose");
  if (answer.textContent.startsWith("RING THROTTLE 50mb: ")) {
    throttled = answer.textContent;
    [...order.kind.options].find((o) => o.textContent.startsWith("find hot keys")).selected = true;
    order.kind.dispatchEvent(new Event("change"));
    order.requestSubmit();
    if (whose.options.length > 1) { whose.value = "*"; whose.dispatchEvent(new Event("change")); }
  }
  if (!document.querySelector("#whatif-answer pre") || !throttled || !answer.querySelector("table")) return;
  answer.append(throttled);
  wanted.shift();
  if (!wanted.length) clearInterval(timer);
  const e = document.documentElement;
  fetch("/seen", { method: "POST", body: JSON.stringify({ width: innerWidth, wide: e.scrollWidth, html: e.outerHTML }) });
}, 50);
`

// A browser shows the page in frames as narrow as a phone and as wide as a desk, with a node whose name is a script.
// Then that node leaves.
func TestBrowserShowsTheCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip(err)
	}
	var left atomic.Bool
	node := &fakeNode{reply: map[string]string{"AUTH,ada,sécret": "+OK\r\n", "PING": "+PONG\r\n", "RING,THROTTLE,50mb": "+<i>OK</i>\r\n",
		"HOTKEYS,START,METRICS,1,CPU,COUNT,20,DURATION,10": "+OK\r\n",
		"HOTKEYS,GET": "*1\r\n*4\r\n+sample-ratio\r\n:1\r\n+by-cpu-time-us\r\n*4\r\n$8\r\n<b>k</b>\r\n:1500\r\n$1\r\nx\r\n:2\r\n"}}
	var merged atomic.Int64
	p, _ := serve(t, Config{
		Dial: node.config().Dial, NeedsPassword: node.config().NeedsPassword,
		Status: func(context.Context) (*status.Report, error) {
			r := report()
			if left.Load() {
				r.Nodes, r.Handoffs, r.TableIndex, r.Short = r.Nodes[:1], nil, 8, 0
			}
			return r, nil
		},
		Histories: func(_ context.Context, node string) map[string][]Sample {
			if node != "" {
				t.Errorf("the history of %q is asked for", node)
			}
			merged.Add(1)
			return map[string][]Sample{"n1": {{At: time.Now().Unix(), Commands: 5}}}
		},
		Placement: func() *ring.Placement {
			if left.Load() {
				p, _ := ring.NewPlacement([]ring.Row{{Range: ring.Whole, Primary: "n1"}})
				return p
			}
			return placement(t)
		},
		WhatIf: func(_ context.Context, words []string) (string, *ring.Placement, error) {
			if fmt.Sprint(words) != "[JOIN n9:2 n10]" {
				t.Errorf("planned: %q", words)
			}
			p, err := ring.NewPlacement([]ring.Row{
				{Range: ring.Range{Start: 0, End: 1 << 30}, Primary: "n1", Backups: []string{hostile}},
				{Range: ring.Range{Start: 1 << 30, End: 2 << 30}, Primary: hostile},
				{Range: ring.Range{Start: 2 << 30, End: 3 << 30}, Primary: "n9"},
				{Range: ring.Range{Start: 3 << 30, End: 7 << 29}, Primary: "n10"},
				{Range: ring.Range{Start: 7 << 29, End: 0}, Primary: "n1"},
			})
			return "<b>a plan</b>", p, err
		},
		Decisions: func() []decisions.Decision {
			all := []decisions.Decision{{At: time.Now().AddDate(-1, 0, 0), Text: "node " + hostile + " failed"}}
			if left.Load() {
				all = append([]decisions.Decision{{At: time.Now(), Text: "n1 became the primary of 1 range"}}, all...)
			}
			return all
		},
	})
	answers := make(chan seen, 8)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /probe.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, probe)
	})
	mux.HandleFunc("GET /frames", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<!doctype html><link rel=icon href="data:,"><iframe src="/" width=390 height=800></iframe><iframe src="/" width=1280 height=800></iframe>`)
	})
	mux.HandleFunc("POST /seen", func(_ http.ResponseWriter, r *http.Request) {
		var s seen
		if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
			t.Error(err)
		}
		answers <- s
	})
	mux.Handle("/page/", p)
	mux.Handle("/api/", p)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		p.ServeHTTP(answer, r)
		policy := answer.Header().Get("Content-Security-Policy")
		w.Header().Set("Content-Security-Policy", strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors 'self'", 1))
		fmt.Fprint(w, strings.Replace(answer.Body.String(), "</body>", `<script src="/probe.js"></script></body>`, 1))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--enable-logging=stderr", "--user-data-dir="+t.TempDir(), server.URL+"/frames")
	var log strings.Builder
	cmd.Stderr = &log
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Skipf("chromium does not run here: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	both := func(contains ...string) {
		for range 2 {
			select {
			case s := <-answers:
				if s.Wide > s.Width {
					t.Errorf("%d wide in a window of %d", s.Wide, s.Width)
				}
				for _, want := range contains {
					if !strings.Contains(s.HTML, want) {
						t.Errorf("at %d: no %s in\n%s", s.Width, want, s.HTML)
					}
				}
			case <-ended:
				t.Errorf("the browser has ended")
			}
		}
	}
	both("<title>arena · Ringside</title>", "Cluster arena", "n1 (leader)", "&lt;svg/onload", "does not answer", "12,345", "3.0 MB", "1.0 MB of 2.0 MB", "40000000-50000000", "25.0 %", "<progress", "ranges: 3, nodes: 2;", "u-wrap", "node &lt;svg/onload=document.title='caught'&gt; failed",
		"37.5 % of the tokens would get another primary", "n10 would become primary", "n9 would become primary", "n1 stays primary", "&lt;b&gt;a plan&lt;/b&gt;", "RING THROTTLE 50mb: &lt;i&gt;OK&lt;/i&gt;", `<form id="login" hidden`,
		"&lt;b&gt;k&lt;/b&gt;</th><td>1.5 ms</td>", "bucket 0002/0003: n1, then &lt;svg/onload", ">attic</td>", "80.0 MB", "2.0 GB of 64.0 GB", "all nodes together")
	if merged.Load() == 0 {
		t.Error("the history of all nodes was not asked for")
	}
	if got := slices.Sorted(slices.Values(node.sent())); fmt.Sprint(got) != "[HOTKEYS,GET HOTKEYS,GET HOTKEYS,START,METRICS,1,CPU,COUNT,20,DURATION,10 HOTKEYS,START,METRICS,1,CPU,COUNT,20,DURATION,10 RING,THROTTLE,50mb RING,THROTTLE,50mb]" {
		t.Errorf("sent %q", got)
	}
	left.Store(true)
	both("n1 became the primary of 1 range", "ranges: 1, nodes: 1;", `<li class="none">None.</li>`)
	cancel()
	<-ended
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("console: %s", line)
		}
	}
}
