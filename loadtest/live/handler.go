package live

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

// Config says what is served.
type Config struct {
	// Read returns the simulation that a query asks for. Its error is shown to the reader. Requests call it
	// concurrently.
	Read func(query url.Values) (sim.Config, report.PageOptions, error)
	// Run simulates; nil: sim.Run.
	Run func(ctx context.Context, cfg sim.Config) (*sim.Report, error)
}

// mostWaiting is how many requests wait for their turn. More are refused.
const mostWaiting = 16

// handler simulates for one request at a time, since a simulation takes all processors.
type handler struct {
	Config
	turn    chan struct{} // has room for the request that simulates
	waiting chan struct{} // has room for those that wait, and that one
}

// NewHandler returns the handler of the page (/) and of its data (/data), both with the settings in
// the query. It answers only requests to names of this machine, so that no other site can have its name
// resolved to this address and read the answers. A simulation ends when its request does.
func NewHandler(cfg Config) http.Handler {
	if cfg.Run == nil {
		cfg.Run = sim.Run
	}
	h := &handler{Config: cfg, turn: make(chan struct{}, 1), waiting: make(chan struct{}, 1+mostWaiting)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.answer("text/html; charset=utf-8", report.SimulationHTML))
	mux.HandleFunc("GET /data", h.answer("application/json", report.SimulationData))
	return own(mux)
}

// own refuses requests to other hosts and from other sites.
func own(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			http.Error(w, "this page is for this machine: use 127.0.0.1 or localhost", http.StatusForbidden)
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); r.URL.Path != "/" && site != "" && site != "same-origin" {
			http.Error(w, "another site may not ask", http.StatusForbidden)
			return
		}
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "SAMEORIGIN")
		next.ServeHTTP(w, r)
	})
}

// isLoopback reports whether a host, with or without a port, names this machine only.
func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	if host == "localhost" {
		return true
	}
	if n := len(host); n > 1 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// answer simulates and writes the report in one form.
func (h *handler) answer(kind string, write func(io.Writer, *sim.Report, report.PageOptions) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cfg, options, err := h.Read(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		select {
		case h.waiting <- struct{}{}:
			defer func() { <-h.waiting }()
		default:
			http.Error(w, "too many simulations wait", http.StatusServiceUnavailable)
			return
		}
		select {
		case h.turn <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		result, err := h.Run(r.Context(), cfg)
		<-h.turn
		if r.Context().Err() != nil {
			return // the client is gone
		}
		var b bytes.Buffer
		if err == nil {
			err = write(&b, result, options)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(b.Bytes())
	}
}

// Listen listens at an address of this machine.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if !isLoopback(host) {
		return nil, &net.AddrError{Err: "not an address of this machine only, such as 127.0.0.1:0", Addr: addr}
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
}
