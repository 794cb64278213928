package page

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/decisions"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/load"
)

// hostile is an id as no node should have it.
const hostile = "<svg/onload=document.title='caught'>"

// report is of two nodes, the second of which has failed.
func report() *status.Report {
	return &status.Report{
		Cluster: "arena", Asked: "n1", Leader: "n1", At: time.Now(), TableIndex: 7, Ranges: 3, Short: 2, Strategy: status.Strategy{Name: "vnode", Backups: 1},
		Nodes: []status.Node{
			{ID: "n1", Role: "store", State: status.Member, Health: status.Alive, Answered: true, Weight: 1, Share: 0.75, Primaries: 2, Keys: 12345, Bytes: 3 << 20, Zone: "attic",
				Machine: &status.Machine{Memory: 80 << 20, DiskFree: 2 << 30, DiskTotal: 64 << 30},
				Load:    &status.Load{Rate: load.Rate{Ops: 1000, Bytes: 1 << 20}, Hottest: "40000000-50000000", HottestRate: load.Rate{Ops: 250, Bytes: 1 << 18}}},
			{ID: hostile, Role: "store", State: status.Member, Health: status.Failed, Weight: 1, Share: 0.25, Primaries: 1},
		},
		Handoffs: []status.Handoff{{ID: 1, From: "n1", To: hostile, Phase: "copying", Ranges: 1, Reported: true, BytesDone: 1 << 20, BytesTotal: 2 << 20, Rate: 1 << 20}},
		Buckets:  []status.Bucket{{Hashmask: "0000/0001", Primary: "n1"}, {Hashmask: "0001/0003"}, {Hashmask: "0002/0003", Primary: "n1", Backups: []string{hostile}}},
	}
}

// placement has the ranges 0 to 1, 1 to 2 and 2 to 4 quarters of all tokens.
func placement(t *testing.T) *ring.Placement {
	t.Helper()
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{Start: 0, End: 1 << 30}, Primary: "n1", Backups: []string{hostile}},
		{Range: ring.Range{Start: 1 << 30, End: 2 << 30}, Primary: hostile},
		{Range: ring.Range{Start: 2 << 30, End: 0}, Primary: "n1", Backups: []string{hostile}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// quiet adds to a configuration that nothing was decided, and no figures.
func quiet(cfg Config) Config {
	if cfg.Decisions == nil {
		cfg.Decisions = new(decisions.Log).Last
	}
	if cfg.Gather == nil {
		cfg.Gather = func() ([]*dto.MetricFamily, error) { return nil, nil }
	}
	return cfg
}

// serve serves a page until the test ends.
func serve(t *testing.T, cfg Config) (*Page, string) {
	t.Helper()
	p := New(quiet(cfg))
	s := httptest.NewServer(p)
	t.Cleanup(func() {
		p.Close()
		s.Close()
	})
	return p, s.URL
}

func get(t *testing.T, url string) (int, http.Header, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Header, string(body)
}

func TestAnswersAreWhatTheClusterIs(t *testing.T) {
	var asked atomic.Int64
	_, url := serve(t, Config{
		Status:    func(context.Context) (*status.Report, error) { asked.Add(1); return report(), nil },
		Placement: func() *ring.Placement { return placement(t) },
		WhatIf: func(_ context.Context, words []string) (string, *ring.Placement, error) {
			if len(words) == 0 {
				return "", nil, errors.New("no change")
			}
			return strings.Join(words, " "), placement(t), nil
		},
	})
	var readers sync.WaitGroup // the race detector sees whether they share what they get
	for range 4 {
		readers.Go(func() {
			if code, _, body := get(t, url+"/api/v1/status"); code != 200 || !json.Valid([]byte(body)) {
				t.Error(code, body)
			}
		})
	}
	readers.Wait()
	for range 5 {
		code, header, body := get(t, url+"/api/v1/status")
		var got struct {
			Cluster string
			Nodes   []struct{ ID string }
			Remarks []status.Remark
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 || header.Get("Content-Type") != "application/json" {
			t.Fatal(code, header, err)
		}
		if got.Cluster != "arena" || len(got.Nodes) != 2 || len(got.Remarks) != 1 || !strings.Contains(got.Remarks[0].Text, "does not answer") || !got.Remarks[0].Alarm {
			t.Errorf("%s", body)
		}
	}
	if n := asked.Load(); n > 2 {
		t.Errorf("five readers at a time had the cluster asked %d times", n)
	}
	var got ranges
	_, _, body := get(t, url+"/api/v1/ranges")
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if want := "[n1 " + hostile + "] [0 1073741824 2147483648] [0 1 0] [[1] [] [1]]"; fmt.Sprint(got.Nodes, got.Starts, got.Primary, got.Backups) != want {
		t.Errorf("%s", body)
	}
	for query, want := range map[string]string{
		"?change=LEAVE+n1": `200 {"text":"LEAVE n1","ranges":{"nodes":["n1",`, "": "400 no change", "?change=" + strings.Repeat("x", maxChange+1): "400 the change is longer",
	} {
		code, _, body := get(t, url+"/api/v1/plan"+query)
		if got := fmt.Sprint(code, " ", body); !strings.HasPrefix(got, want) {
			t.Errorf("%.40q: %s", query, got)
		}
	}
	for _, path := range []string{"history", "decisions"} {
		if _, _, body := get(t, url+"/api/v1/"+path); body != "[]\n" {
			t.Errorf("%s: %s", path, body)
		}
	}
	for path, kind := range map[string]string{"/": "text/html", "/page/page.js": "text/javascript", "/page/uplot.js": "text/javascript", "/page/page.css": "text/css"} {
		code, header, body := get(t, url+path)
		if code != 200 || !strings.HasPrefix(header.Get("Content-Type"), kind) || len(body) < 500 || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d, %v, %d bytes", path, code, header, len(body))
		}
	}
	if code, _, _ := get(t, url+"/page/none"); code != 404 {
		t.Error(code)
	}
	if r, err := http.Post(url+"/api/v1/status", "text/plain", nil); err != nil || r.StatusCode != http.StatusMethodNotAllowed {
		t.Error(r, err)
	}
}

func TestUnknownClusterIsSaidToBeSo(t *testing.T) {
	_, url := serve(t, Config{
		Status:    func(context.Context) (*status.Report, error) { return nil, errors.New("not in its cluster yet") },
		Placement: func() *ring.Placement { return nil },
	})
	for _, path := range []string{"/api/v1/status", "/api/v1/ranges"} {
		if code, _, body := get(t, url+path); code != http.StatusServiceUnavailable || !strings.Contains(body, "yet") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	r, err := http.Get(url + "/api/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if line, err := bufio.NewReader(r.Body).ReadString('\n'); line != "event: fault\n" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
}

// Streams tell the status and samples, are bounded in number, and end with the page.
func TestStreamsEndWithThePage(t *testing.T) {
	p, url := serve(t, Config{Status: func(context.Context) (*status.Report, error) { return report(), nil }})
	var bodies []*bufio.Reader
	for range mostStreams {
		r, err := http.Get(url + "/api/v1/events")
		if err != nil || r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatal(r, err)
		}
		defer r.Body.Close()
		bodies = append(bodies, bufio.NewReader(r.Body))
	}
	if code, _, _ := get(t, url+"/api/v1/events"); code != http.StatusServiceUnavailable {
		t.Errorf("one stream too many: %d", code)
	}
	p.history.add(Sample{At: 5, Commands: 2.5})
	var seen []string
	for !slices.Contains(seen, "event: sample") {
		line, err := bodies[0].ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if name := strings.TrimSpace(line); strings.HasPrefix(name, "event:") {
			seen = append(seen, name)
		}
	}
	if line, _ := bodies[0].ReadString('\n'); seen[0] != "event: status" || !strings.HasPrefix(line, `data: {"at":5,"commands_per_second":2.5,`) {
		t.Errorf("%v, %s", seen, line)
	}
	p.Close()
	for _, b := range bodies {
		if _, err := io.Copy(io.Discard, b); err != nil {
			t.Error(err)
		}
	}
}

// TestQuantileIsNearTheExactOne compares quantiles with those of the values themselves.
// A stream ends some time after its user may not see it any more.
func TestStreamsEndWithTheRightsOfTheirUser(t *testing.T) {
	eventsOf := func(auth bool) (frames int) {
		fakenet.Bubble(t, func(t *testing.T) {
			p := New(quiet(Config{
				Status: func(context.Context) (*status.Report, error) { return report(), nil },
				Auth:   auth, NeedsPassword: func(string) bool { return false }, // so every login is refused
			}))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r := httptest.NewRequest("GET", "/api/v1/events", nil).WithContext(ctx)
			r.SetBasicAuth("ada", "secret")
			w := httptest.NewRecorder()
			p.ServeHTTP(w, r)
			p.Close()
			frames = strings.Count(w.Body.String(), "event: status")
		})
		return frames
	}
	if n := eventsOf(false); n < 58 {
		t.Errorf("without users: %d events in a minute", n)
	}
	if n := eventsOf(true); n < 10 || n > 13 {
		t.Errorf("a user who may not log in any more gets %d events, want about ten", n)
	}
}

func TestQuantileIsNearTheExactOne(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	bounds := []float64{1, 2, 5, 10, 20, 50, math.Inf(1)}
	for range 500 {
		upTo := make(map[float64]float64)
		values := make([]float64, 1+rnd.IntN(200))
		for i := range values {
			values[i] = rnd.Float64() * 49
			for _, bound := range bounds {
				if values[i] <= bound {
					upTo[bound]++
				}
			}
		}
		slices.Sort(values)
		for _, q := range []float64{0.01, 0.5, 0.99, 1} {
			exact := values[max(int(math.Ceil(q*float64(len(values))))-1, 0)]
			got := quantile(bounds, upTo, q)
			i, _ := slices.BinarySearch(bounds, exact)
			low := 0.0
			if i > 0 {
				low = bounds[i-1]
			}
			if got == nil || *got < low || *got > bounds[i] {
				t.Fatalf("quantile %v of %d values: %v, exactly %v", q, len(values), got, exact)
			}
		}
	}
	if quantile(bounds, map[float64]float64{math.Inf(1): 0}, 0.5) != nil || quantile(nil, nil, 0.5) != nil {
		t.Error("a quantile of nothing")
	}
	if v := quantile(bounds, map[float64]float64{math.Inf(1): 3}, 0.5); v == nil || *v != 50 {
		t.Error("a quantile above all bounds is not the highest of them")
	}
}

// TestHistoriesOfNodesAreServed asks for the last hour of another node, of all nodes, and of one that does not answer.
func TestHistoriesOfNodesAreServed(t *testing.T) {
	fast, slow := 0.001, 0.5
	all := map[string][]Sample{
		"n1": {{At: 1003, Commands: 5, P99: &fast}, {At: 1013, Commands: 7, Data: 1}},
		"n2": {{At: 1009, Commands: 1, P50: &fast, P99: &slow, Evicted: 2}},
	}
	_, url := serve(t, Config{Histories: func(_ context.Context, node string) map[string][]Sample {
		some := maps.Clone(all)
		maps.DeleteFunc(some, func(name string, _ []Sample) bool { return node != "" && node != name })
		return some
	}})
	for query, want := range map[string]string{
		"?node=n2": `200 [{"at":1009,"commands_per_second":1,"errors_per_second":0,"evicted_per_second":2,`,
		"?node=*":  `200 [{"at":1000,"commands_per_second":6,"errors_per_second":0,"evicted_per_second":2,"bytes_in_per_second":0,"bytes_out_per_second":0,"p50_seconds":null,"p99_seconds":0.5,"connections":0,"data_bytes":0,"memory_bytes":0},{"at":1010,"commands_per_second":7,`,
		"?node=n3": "404 no node of this name answers",
	} {
		code, _, body := get(t, url+"/api/v1/history"+query)
		if got := fmt.Sprint(code, " ", body); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", query, got)
		}
	}
}

func TestHistoryIsOfAnHour(t *testing.T) {
	var h history
	for i := range int64(3 * samplesKept) {
		h.add(Sample{At: i})
	}
	if all := h.samples(); len(all) != samplesKept || all[0].At != 2*samplesKept || h.newest() != 3*samplesKept-1 {
		t.Error(len(all), all[0].At, h.newest())
	}
	if last := h.after(3*samplesKept - 3); len(last) != 2 || last[0].At != 3*samplesKept-2 {
		t.Errorf("%+v", last)
	}
}

func TestSampleIsWhatWasDoneSince(t *testing.T) {
	counter := func(name string, value float64, labels ...string) *dto.MetricFamily {
		m := &dto.Metric{Counter: &dto.Counter{Value: &value}}
		for i := 0; i < len(labels); i += 2 {
			m.Label = append(m.Label, &dto.LabelPair{Name: &labels[i], Value: &labels[i+1]})
		}
		return &dto.MetricFamily{Name: &name, Metric: []*dto.Metric{m}}
	}
	at := time.Unix(1000, 0)
	before := totalsOf([]*dto.MetricFamily{counter("ringside_commands_total", 100, "command", "get", "result", "ok")}, at)
	now := totalsOf([]*dto.MetricFamily{
		counter("ringside_commands_total", 160, "command", "get", "result", "ok"), counter("ringside_commands_total", 40, "command", "get", "result", "error"),
		counter("ringside_evicted_keys_total", 20), counter("ringside_network_bytes_total", 300, "direction", "in"), counter("ringside_network_bytes_total", 500, "direction", "out"),
		counter("ringside_data_bytes", 77), counter("go_goroutines", 1e9),
	}, at.Add(10*time.Second))
	if got, want := now.since(&before), (Sample{At: 1010, Commands: 10, Errors: 4, Evicted: 2, In: 30, Out: 50, Data: 77}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
