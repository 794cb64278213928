package node

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ringside-kv/ringside/replica/bus"
)

// A spanCollector is an OpenTelemetry collector.
type spanCollector struct {
	mu    sync.Mutex
	spans []collectedSpan
}

type collectedSpan struct {
	*otlp.Span
	at string // the node
}

func (s *collectedSpan) took() time.Duration {
	return time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano)
}

// ServeHTTP takes spans.
func (s *spanCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m := new(collector.ExportTraceServiceRequest)
	if err := proto.Unmarshal(body, m); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rs := range m.ResourceSpans {
		node := ""
		for _, a := range rs.Resource.Attributes {
			if a.Key == "service.instance.id" {
				node = a.Value.GetStringValue()
			}
		}
		for _, sp := range rs.ScopeSpans[0].Spans {
			s.spans = append(s.spans, collectedSpan{sp, node})
		}
	}
}

// take returns the spans of the trace whose first one is of a command that a node has taken from a client.
func (s *spanCollector) take(at, command string) (found []collectedSpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, root := range s.spans {
		if root.at != at || root.Name != command || len(root.ParentSpanId) > 0 {
			continue
		}
		for _, sp := range s.spans {
			if string(sp.TraceId) == string(root.TraceId) {
				found = append(found, sp)
			}
		}
	}
	return found
}

// stage returns the longest span of a name at a node.
func stage(spans []collectedSpan, at, name string) time.Duration {
	spans = slices.DeleteFunc(slices.Clone(spans), func(s collectedSpan) bool { return s.at != at || s.Name != name })
	if len(spans) == 0 {
		return -1
	}
	longest := slices.MaxFunc(spans, func(a, b collectedSpan) int { return cmp.Compare(a.took(), b.took()) })
	return longest.took()
}

// One slow command shows which disk it was: in its trace, and without a collector in RING SLOWLOG and RING EXPLAIN.
func TestSlowCommandShowsWhichDiskOrHopItWas(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		of := map[string]*gray{"a": {}, "b": {}, "c": {}}
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(cfg *Config) {
			of[cfg.ID].under(cfg)
			cfg.MinFreeDisk = 1 << 20
			cfg.OTLPEndpoint, cfg.OTLPSample = "http://10.0.2.2:4318", 1
			cfg.SlowlogSlowerThan = 200 * time.Millisecond
		})
		listener, err := c.net.Host("10.0.2.2").Listen("10.0.2.2:4318")
		if err != nil {
			t.Fatal(err)
		}
		var spans spanCollector
		server := &http.Server{Handler: &spans}
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = server.Serve(listener)
		}()
		c.three()
		c.backups(1)
		key, client := c.ownKey("b"), c.client("a")
		cl := c.nodes["a"].cluster
		row, _ := cl.table.State().Row(cl.strategy.Token([]byte(key)))
		backup := row.Backups[0]
		for _, slow := range []string{"b", backup} {
			time.Sleep(5 * time.Second)
			end := of[slow].disk.stall()
			time.AfterFunc(500*time.Millisecond, end)
			command := map[bool]string{true: "set", false: "append"}[slow == "b"]
			if err := client.Do(t.Context(), command, key, "v").Err(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			trace := spans.take("a", command)
			hop, log, ack := stage(trace, "a", "hop b"), stage(trace, "b", "log"), stage(trace, "b", "backup "+backup)
			if hop < 450*time.Millisecond || stage(trace, "a", command) < hop || stage(trace, "b", command) > hop {
				t.Errorf("%s, slow disk at %s: the hop took %v, of %v", command, slow, hop, trace)
			}
			if isSlow, want := log > 400*time.Millisecond, slow == "b"; isSlow != want {
				t.Errorf("slow disk at %s: the log of b took %v", slow, log)
			}
			if isSlow, want := ack > 400*time.Millisecond, slow == backup; isSlow != want {
				t.Errorf("slow disk at %s: backup %s took %v", slow, backup, ack)
			}
			text, err := client.Do(t.Context(), "RING", "EXPLAIN", key).Text()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"primary: b\n", "backups: " + backup + "\n", "hop to b: ", "slow at a: ", strings.ToUpper(command) + " took", ": hop b ", "slow at b: "} {
				if !strings.Contains(text, want) {
					t.Errorf("RING EXPLAIN does not say %q: %s", want, text)
				}
			}
			worst := "log"
			if slow == backup {
				worst = "backup " + backup
			}
			line, _, _ := strings.Cut(text[strings.Index(text, "slow at b: "):], "\n")
			if !regexp.MustCompile(worst + ` [45]\d\d`).MatchString(line) {
				t.Errorf("slow disk at %s: RING EXPLAIN says %s", slow, line)
			}
		}
		entries, err := client.Do(t.Context(), "RING", "SLOWLOG", "1").Slice()
		if err != nil || len(entries) != 1 || len(entries[0].([]any)) != 8 {
			t.Errorf("RING SLOWLOG: %v, %v", entries, err)
		}
		_ = client.Close()
		c.close()
		_ = server.Shutdown(context.Background())
		<-served
	})
}

// A node of an older version is sent no context: what is forwarded to it works, and its part of the trace is missing.
func TestTraceEndsAtANodeOfAnOlderVersion(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			cfg.OTLPEndpoint, cfg.OTLPSample = "http://10.0.2.2:4318", 1 // where nothing is
			if cfg.ID == "b" {
				cfg.env.Versions = bus.Versions{Oldest: 3, Newest: 15}
			}
			cfg.env.OldForms = true
		})
		c.three()
		c.backups(1)
		client := c.client("a")
		for _, id := range []string{"b", "c"} {
			if err := client.Set(t.Context(), c.ownKey(id), "v", 0).Err(); err != nil {
				t.Errorf("a key of %s: %v", id, err)
			}
		}
		_ = client.Close()
		traces := c.nodes["a"].traces
		c.close()
		if n := traces.Failed.Load(); n == 0 {
			t.Error("no span counts as failed, with no collector there")
		}
	})
}
