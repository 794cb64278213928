package admin

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ringside-kv/ringside/internal/durations"
)

// latencies is a LatencySource of one command.
type latencies struct{}

func (latencies) EachLatency(visit func(string, durations.Histogram)) {
	visit("get", durations.Histogram{Ends: []float64{0.001, 0.002}, Below: []uint64{3, 5}, Count: 6, Sum: 0.5})
}

func (latencies) EachAnswered(visit func(string, durations.Histogram)) {
	visit("get", durations.Histogram{Ends: []float64{0.002}, Below: []uint64{1}, Count: 1, Sum: 0.75})
}

func fsyncs() durations.Histogram {
	return durations.Histogram{Ends: []float64{0.004}, Below: []uint64{1}, Count: 2, Sum: 0.25}
}

func TestMetrics(t *testing.T) {
	defer goleak.VerifyNone(t)
	m, err := NewMetrics("1.2.3", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.ObserveLatency(latencies{}, fsyncs); err != nil {
		t.Fatal(err)
	}
	if m.ObserveLatency(latencies{}, fsyncs) == nil {
		t.Error("a second source is accepted")
	}
	m.Scope().Tagged(map[string]string{"command": "get", "result": "ok"}).Counter("commands_total").Inc(7)
	m.Scope().Gauge("keys").Update(42)
	// Not the way to use a scope, but it must not end the process.
	m.Scope().Counter("commands_total").Inc(1)

	url, stop := serve(t, Config{Metrics: m.Handler()})
	defer stop()
	want := []string{
		`ringside_build_info{version="1.2.3"} 1`,
		`ringside_commands_total{command="get",result="ok"} 7`,
		"ringside_keys 42",
		`ringside_command_duration_seconds_bucket{command="get",le="0.001"} 3`,
		`ringside_command_duration_seconds_bucket{command="get",le="+Inf"} 6`,
		`ringside_command_duration_seconds_count{command="get"} 6`,
		`ringside_command_duration_seconds_sum{command="get"} 0.5`,
		`ringside_request_duration_seconds_bucket{command="get",le="0.002"} 1`,
		`ringside_request_duration_seconds_sum{command="get"} 0.75`,
		`ringside_log_fsync_duration_seconds_bucket{le="0.004"} 1`,
		"ringside_log_fsync_duration_seconds_sum 0.25",
		"go_goroutines",
		"process_cpu_seconds_total",
	}
	// The scope reports one figure after the other.
	for deadline := time.Now().Add(time.Minute); len(want) > 0; time.Sleep(20 * time.Millisecond) {
		_, body := get(t, url+"/metrics")
		if want = slices.DeleteFunc(want, func(line string) bool { return strings.Contains(body, line) }); len(want) > 0 && time.Now().After(deadline) {
			t.Fatalf("no %q in\n%s", want, body)
		}
	}
}

// A hangingWriter is a client that reads nothing.
type hangingWriter struct {
	http.ResponseWriter
	asked chan<- struct{}
	reads <-chan struct{}
}

func (w hangingWriter) Write(p []byte) (int, error) {
	w.asked <- struct{}{}
	<-w.reads
	return w.ResponseWriter.Write(p)
}

// Clients that do not read their metrics do not hold up those of others.
func TestSlowReadersDoNotHoldUpScrapes(t *testing.T) {
	m, err := NewMetrics("1.2.3", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	h := m.Handler()
	asked, reads := make(chan struct{}, 2*maxScrapes), make(chan struct{})
	var slow sync.WaitGroup
	for range 2 * maxScrapes {
		slow.Go(func() {
			h.ServeHTTP(hangingWriter{httptest.NewRecorder(), asked, reads}, httptest.NewRequest("GET", "/metrics", nil))
		})
		<-asked
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "ringside_build_info") {
		t.Errorf("beside slow readers: %d, %.100q", w.Code, w.Body)
	}
	close(reads)
	slow.Wait()
}
