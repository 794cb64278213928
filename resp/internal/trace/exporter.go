package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config says where traces go.
type Config struct {
	Endpoint      string  // of the collector; see [Endpoint]
	Sample        float64 // the share of requests that are traced, from 0 to 1
	Node, Cluster string
	Version       string
	Logger        *slog.Logger
	// Dial connects to the collector; nil is the system's way.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

const (
	queueSize     = 256 // traces that wait to be sent; further ones are dropped
	batchSpans    = 512 // spans after which a request is sent
	batchInterval = time.Second
	sendTimeout   = 10 * time.Second
	stopTimeout   = 500 * time.Millisecond // for the last request
)

// An Exporter sends the spans of sampled requests to an OpenTelemetry collector, by OTLP over HTTP.
//
// Invariant: a request never waits for it. What the collector does not take in time is dropped, and counted.
type Exporter struct {
	cfg      Config
	client   http.Client
	url      string
	shown    string // without a password
	resource []attribute
	queue    chan []span
	cancel   context.CancelFunc
	ctx      context.Context
	stop     chan struct{}
	done     sync.WaitGroup

	// Spans that a collector has taken, that found the queue full, and that could not be sent.
	Sent, Dropped, Failed atomic.Int64
}

// Endpoint returns the URL that traces are sent to: /v1/traces, unless the endpoint has a path of its own. host:port
// stands for http://host:port.
func Endpoint(endpoint string) (string, error) {
	if !strings.Contains(endpoint, "://") {
		endpoint = "http://" + endpoint
	}
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return "", errors.New("it is not a URL") // whose error may show a password
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("%s:// is neither http:// nor https://: OTLP over gRPC is not spoken", u.Scheme)
	case u.Host == "" || u.Hostname() == "":
		return "", errors.New("it names no host")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	return u.String(), nil
}

// Open returns an exporter, or nil without an endpoint. Close ends it.
func Open(cfg Config) (*Exporter, error) {
	if cfg.Endpoint == "" {
		return nil, nil
	}
	u, err := Endpoint(cfg.Endpoint)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: sendTimeout, MaxIdleConns: 1, IdleConnTimeout: time.Minute}
	if cfg.Dial != nil {
		transport.Proxy, transport.DialContext = nil, cfg.Dial
	}
	e := &Exporter{cfg: cfg, client: http.Client{Transport: transport}, url: u, queue: make(chan []span, queueSize), stop: make(chan struct{})}
	if shown, err := url.Parse(u); err == nil {
		e.shown = shown.Redacted()
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.resource = []attribute{
		{"service.name", "ringside"}, {"service.namespace", cfg.Cluster},
		{"service.instance.id", cfg.Node}, {"service.version", cfg.Version},
	}
	e.done.Go(e.run)
	return e, nil
}

// Sample returns a trace for requests that begin now, or nil if they are not traced. e may be nil.
func (e *Exporter) Sample() *Sampled {
	if e == nil || rand.Float64() >= e.cfg.Sample {
		return nil
	}
	return newSampled()
}

// Join returns a part of the trace of another node, by its context; nil if there is none. e may be nil.
func (e *Exporter) Join(context []byte) *Sampled {
	if e == nil || len(context) != ContextSize {
		return nil
	}
	s := &Sampled{span: newSpanID()}
	copy(s.id[:], context)
	copy(s.parent[:], context[len(s.id):])
	return s
}

// Export has the spans of requests sent. It does not wait. The server's clock was 0 at began.
func (e *Exporter) Export(s *Sampled, r *Requests, began time.Time) {
	spans := s.spans(r, began)
	select {
	case e.queue <- spans:
	default:
		e.Dropped.Add(int64(len(spans)))
	}
}

// Close sends what there is, if the collector takes it at once, and ends the exporter. e may be nil.
func (e *Exporter) Close() {
	if e == nil {
		return
	}
	close(e.stop)
	timer := time.AfterFunc(stopTimeout, e.cancel)
	e.done.Wait()
	timer.Stop()
	e.cancel()
	e.client.CloseIdleConnections()
}

func (e *Exporter) run() {
	var batch []span
	var late <-chan time.Time
	failing := false
	send := func() {
		if len(batch) > 0 {
			failing = e.send(batch, failing)
		}
		batch, late = batch[:0], nil
	}
	for {
		select {
		case spans := <-e.queue:
			if batch = append(batch, spans...); len(batch) >= batchSpans {
				send()
			} else if late == nil {
				late = time.After(batchInterval)
			}
		case <-late:
			send()
		case <-e.stop:
			for {
				select {
				case spans := <-e.queue:
					batch = append(batch, spans...)
					continue
				default:
				}
				send()
				return
			}
		}
	}
}

// send sends spans once. It returns whether that failed; failing says whether it did the last time.
func (e *Exporter) send(spans []span, failing bool) bool {
	err := e.post(encode(e.resource, e.cfg.Version, spans))
	if err == nil {
		e.Sent.Add(int64(len(spans)))
		return false
	}
	e.Failed.Add(int64(len(spans)))
	if !failing && e.ctx.Err() == nil {
		e.cfg.Logger.Warn("sending traces to the collector failed: they are dropped", "endpoint", e.shown, "err", err)
	}
	return true
}

func (e *Exporter) post(body []byte) error {
	ctx, cancel := context.WithTimeout(e.ctx, sendTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "ringside/"+e.cfg.Version)
	reply, err := e.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	_, _ = io.CopyN(io.Discard, reply.Body, 64<<10) // so that the connection can be used again
	if reply.StatusCode/100 != 2 {
		return errors.New("the collector answers " + reply.Status)
	}
	return nil
}
