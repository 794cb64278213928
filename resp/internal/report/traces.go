package report

import "github.com/ringside-kv/ringside/resp/internal/trace"

// Traces lists the metrics of an exporter of traces, if there is one.
func Traces[X any](m *Reporter[X], e *trace.Exporter) {
	if e == nil {
		return
	}
	m.Count("trace_spans_total", func(X) int64 { return e.Sent.Load() }, "result", "sent")
	m.Count("trace_spans_total", func(X) int64 { return e.Dropped.Load() }, "result", "dropped")
	m.Count("trace_spans_total", func(X) int64 { return e.Failed.Load() }, "result", "failed")
}
