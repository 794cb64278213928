package admin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/uber-go/tally/v4"
	tallyprom "github.com/uber-go/tally/v4/prometheus"
)

// Metrics are what one process tells Prometheus: all that is reported to its scope,
// under names that begin with ringside_, and what Go and the operating system know
// of the process. Each has a registry of its own, so that a process can run several
// nodes.
type Metrics struct {
	registry *prometheus.Registry
	scope    tally.Scope
	closer   io.Closer
	log      *slog.Logger
}

const (
	// reportPeriod is how often the scope's figures go to the registry.
	reportPeriod = time.Second
	// maxScrapes bounds how many clients are told the metrics at a time.
	maxScrapes = 4
)

// NewMetrics returns metrics of a build. Close must be called. A nil logger discards.
func NewMetrics(version string, log *slog.Logger) (*Metrics, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	m := &Metrics{registry: prometheus.NewRegistry(), log: log}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "ringside_build_info",
		Help:        "Always 1; the label tells the version.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	if err := errors.Join(
		m.registry.Register(build),
		m.registry.Register(collectors.NewGoCollector()),
		m.registry.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
	); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	m.scope, m.closer = tally.NewRootScope(tally.ScopeOptions{
		Prefix: "ringside",
		CachedReporter: tallyprom.NewReporter(tallyprom.Options{
			Registerer: m.registry,
			OnRegisterError: func(err error) {
				// A name that is used with two sets of tags: the fault of
				// whoever reports, and no reason to end the process.
				log.Error("reporting a metric failed", "err", err)
			},
		}),
		Separator:              tallyprom.DefaultSeparator,
		SanitizeOptions:        &tallyprom.DefaultSanitizerOpts,
		OmitCardinalityMetrics: true,
	}, reportPeriod)
	return m, nil
}

// Scope is where the process reports to. Counters and gauges reach /metrics within a
// second; for histograms see [Metrics.ObserveLatency].
func (m *Metrics) Scope() tally.Scope { return m.scope }

// Handler serves the metrics in the formats of Prometheus. A client that reads slowly does not count as one that is
// told: the text is complete before it is sent.
func (m *Metrics) Handler() http.Handler {
	told := promhttp.HandlerFor(describedGatherer{m.registry}, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(m.log.Handler(), slog.LevelError),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
		EnableOpenMetrics:   true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := textWriter{header: w.Header(), code: http.StatusOK}
		told.ServeHTTP(&text, r)
		w.WriteHeader(text.code)
		_, _ = w.Write(text.Bytes())
	})
}

// A textWriter keeps the body of a response.
type textWriter struct {
	bytes.Buffer
	header http.Header
	code   int
}

func (w *textWriter) Header() http.Header  { return w.header }
func (w *textWriter) WriteHeader(code int) { w.code = code }

// Gather returns what the handler serves.
func (m *Metrics) Gather() ([]*dto.MetricFamily, error) {
	return describedGatherer{m.registry}.Gather()
}

// Close stops reporting.
func (m *Metrics) Close() error { return m.closer.Close() }
