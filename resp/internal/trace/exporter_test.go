package trace

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ringside-kv/ringside/store"
)

func open(t *testing.T, c Config) *Exporter {
	t.Helper()
	c.Logger = slog.New(slog.DiscardHandler)
	c.Node, c.Cluster, c.Version = "a", "ringside", "1.2"
	e, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestExporterSendsSpansAsOTLP(t *testing.T) {
	got := make(chan *collector.ExportTraceServiceRequest, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := new(collector.ExportTraceServiceRequest)
		if err := proto.Unmarshal(body, m); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %v: %v", r.URL.Path, r.Header, err)
		}
		got <- m
	}))
	defer server.Close()
	e := open(t, Config{Endpoint: server.URL, Sample: 1})
	began := time.Unix(1000, 0)
	s := e.Join(e.Sample().Context())
	timing := Timing{Arrived: time.Second, LatchFrom: time.Second, LatchTo: 2 * time.Second, Committed: 3 * time.Second, Sampled: s}
	timing.Commit = store.CommitTimes{Began: began.Add(4 * time.Second), Ended: began.Add(5 * time.Second)}
	stages := timing.Stages(began, []Ack{{"b", began.Add(6 * time.Second)}})
	e.Export(s, &Requests{Command: "set", Database: 3, FromClient: true, Arrived: time.Second, Left: 7 * time.Second, Stages: stages, Unknown: true}, began)
	e.Close()
	m := <-got
	resource := m.ResourceSpans[0].Resource
	if a := resource.Attributes[2]; a.Key != "service.instance.id" || a.Value.GetStringValue() != "a" {
		t.Errorf("the resource is %v", resource)
	}
	spans := m.ResourceSpans[0].ScopeSpans[0].Spans
	var names []string
	for _, sp := range spans {
		names = append(names, sp.Name)
		if string(sp.TraceId) != string(s.id[:]) || len(sp.SpanId) != 8 {
			t.Errorf("%v is of trace %x", sp, sp.TraceId)
		}
		if sp != spans[0] && string(sp.ParentSpanId) != string(spans[0].SpanId) {
			t.Errorf("the parent of %s is %x", sp.Name, sp.ParentSpanId)
		}
	}
	if got := strings.Join(names, ","); got != "set,latch,run,log queue,log,backup b" {
		t.Errorf("spans: %s", got)
	}
	root, backup := spans[0], spans[5]
	if string(root.ParentSpanId) != string(s.parent[:]) || root.Kind != otlp.Span_SPAN_KIND_SERVER || root.Status.GetCode() != otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("the span of the request is %v", root)
	}
	if root.StartTimeUnixNano != 1001e9 || root.EndTimeUnixNano != 1007e9 || backup.StartTimeUnixNano != 1003e9 || backup.EndTimeUnixNano != 1006e9 {
		t.Errorf("times: %v, %v", root, backup)
	}
	said := make(map[string]string)
	for _, a := range append(root.Attributes, backup.Attributes...) {
		said[a.Key] = a.Value.GetStringValue()
	}
	if said["db.operation.name"] != "set" || said["db.namespace"] != "3" || said["ringside.stage"] != Backup || said["ringside.node"] != "b" {
		t.Errorf("attributes: %v", said)
	}
	if n := e.Sent.Load(); n != 6 {
		t.Errorf("%d spans count as sent", n)
	}
}

// A collector that does not answer, or is not there, costs nothing but spans.
func TestUnreachableCollectorCostsOnlySpans(t *testing.T) {
	hangs := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	fails := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") }
	for name, dial := range map[string]func(context.Context, string, string) (net.Conn, error){"hangs": hangs, "fails": fails} {
		e := open(t, Config{Endpoint: "localhost:4318", Sample: 1, Dial: dial})
		const traces = 4*queueSize + batchSpans
		for range traces {
			e.Export(e.Sample(), &Requests{Command: "get", Left: 1}, time.Now())
		}
		e.Close()
		if lost := e.Dropped.Load() + e.Failed.Load(); lost != traces || e.Sent.Load() != 0 {
			t.Errorf("%s: %d spans of %d count as lost, %d as sent", name, lost, traces, e.Sent.Load())
		}
		if name == "hangs" && e.Dropped.Load() == 0 {
			t.Errorf("all %d traces found room in the queue", traces)
		}
	}
}

func TestEndpointIsAURLOfOTLPOverHTTP(t *testing.T) {
	for text, want := range map[string]string{
		"h:4318": "http://h:4318/v1/traces", "http://h:4318/": "http://h:4318/v1/traces", "https://h/otlp/v1/traces": "https://h/otlp/v1/traces",
		"grpc://h:4317": "", "http://": "", "": "", "http://:4318": "", "http://h:x": "", "http://u:secret@h:x": "",
	} {
		got, err := Endpoint(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v shows the password", text, err)
		}
	}
}

func TestSampleTakesItsShare(t *testing.T) {
	for _, share := range []float64{0, 0.25, 1} {
		e, n := &Exporter{cfg: Config{Sample: share}}, 0
		for range 10000 {
			if e.Sample() != nil {
				n++
			}
		}
		if math.Abs(float64(n)-share*10000) > 300 {
			t.Errorf("%d of 10000 with a share of %v", n, share)
		}
	}
	var none *Exporter
	if none.Sample() != nil || none.Join(make([]byte, ContextSize)) != nil || (&Exporter{}).Join(make([]byte, 3)) != nil {
		t.Error("a trace without an exporter, or of a context that is none")
	}
}

func TestLogKeepsTheNewest(t *testing.T) {
	var l Log
	for i := range 10 {
		l.Add(Entry{Took: time.Duration(i), Keyed: i%2 == 0}, 4)
	}
	l.Add(Entry{}, 0)
	var got []time.Duration
	for _, e := range l.Latest(3, nil) {
		got = append(got, e.Took)
	}
	if len(got) != 3 || got[0] != 9 || got[2] != 7 {
		t.Errorf("the newest are %v", got)
	}
	if even := l.Latest(10, func(e *Entry) bool { return e.Keyed }); len(even) != 2 || even[0].ID != 8 {
		t.Errorf("those that match are %v", even)
	}
}
