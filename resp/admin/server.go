package admin

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Config says what a Server serves.
type Config struct {
	// Health is what /livez, /healthz and /readyz tell.
	Health *Health
	// Metrics is what /metrics serves; nil: there is no such page.
	Metrics http.Handler
	// Home is served at /, in place of the list of pages; nil: there is none.
	Home http.Handler
	// Pages are served besides.
	Pages []Page
	// Admit reports why a request is refused, with an HTTP status; 0 if it is not. It is not asked about health
	// checks; nil admits all. A 401 has the browser ask for a user and a password.
	Admit func(r *http.Request) (code int, why string)
	// Hosts are host names by which clients may call the server; [AnyHost] accepts all. IP addresses, the machine's
	// name, names without dots and reserved ones such as node.internal are always accepted.
	Hosts []string
	// Logger hears of broken requests; nil discards.
	Logger *slog.Logger
}

// A Page is served at a path and listed at /pages.
type Page struct {
	Path    string // begins with /; with a / at the end, all paths below it, too
	Title   string
	Handler http.Handler
	// Post has POST requests served, too, with the other methods of the page.
	Post bool
}

const (
	// maxConns is how many connections there may be. The one that has waited longest for a
	// request makes room for a new one, or else the one whose answer has taken longest, so that
	// neither idle connections nor slow readers keep a probe out.
	maxConns   = 256
	maxHeaders = 16 << 10
	// A client has so long to send its request, and to take the answer. Profiles
	// add the time that they take.
	readTimeout  = 10 * time.Second
	writeTimeout = 30 * time.Second
	idleTimeout  = time.Minute
)

// Server answers HTTP requests. Its methods may be called from any goroutine.
type Server struct {
	http   http.Server
	cancel context.CancelFunc // of all requests

	mu      sync.Mutex
	closing bool
	fresh   map[net.Conn]struct{} // connections that have sent nothing yet
	waiting waiting
	running sync.WaitGroup // requests
}

// New returns a server. It runs nothing before Serve.
func New(cfg Config) (*Server, error) {
	if cfg.Health == nil {
		return nil, errors.New("admin: no health")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	pages := []Page{
		{Path: "/livez", Title: "whether the process is alive", Handler: http.HandlerFunc(cfg.Health.serveAlive)},
		{Path: "/healthz", Title: "the same as /livez", Handler: http.HandlerFunc(cfg.Health.serveAlive)},
		{Path: "/readyz", Title: "whether it serves its keys and takes writes; with ?verbose, each check", Handler: http.HandlerFunc(cfg.Health.serveReady)},
		{Path: "/debug/pprof/", Title: "profiles, for clients on the same host", Handler: profiles()},
	}
	if cfg.Metrics != nil {
		pages = append(pages, Page{Path: "/metrics", Title: "metrics for Prometheus", Handler: cfg.Metrics})
	}
	pages = append(pages, cfg.Pages...)
	mux := http.NewServeMux()
	seen := make(map[string]bool)
	for _, p := range pages {
		if !strings.HasPrefix(p.Path, "/") || p.Path == "/" || p.Path == "/pages" || seen[p.Path] || strings.ContainsAny(p.Path, "{} ") {
			return nil, fmt.Errorf("admin: cannot serve a page at %q", p.Path)
		}
		seen[p.Path] = true
		mux.Handle("GET "+p.Path, p.Handler)
		if p.Post {
			mux.Handle("POST "+p.Path, p.Handler)
		}
	}
	list := index(pages)
	mux.Handle("GET /pages", list)
	if cfg.Home == nil {
		cfg.Home = list
	}
	mux.Handle("GET /{$}", cfg.Home)
	return newServer(admitted(mux, cfg.Admit), newHosts(cfg.Hosts), cfg.Logger), nil
}

// admitted has a handler serve what is admitted, and health checks.
func admitted(handler http.Handler, admit func(r *http.Request) (code int, why string)) http.Handler {
	if admit == nil {
		return handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isHealthCheck(r) {
			if code, why := admit(r); code != 0 {
				if code == http.StatusUnauthorized {
					w.Header().Set("WWW-Authenticate", `Basic realm="ringside", charset="UTF-8"`)
				}
				http.Error(w, why, code)
				return
			}
		}
		handler.ServeHTTP(w, r)
	})
}

func newServer(handler http.Handler, own hosts, log *slog.Logger) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{cancel: cancel, fresh: make(map[net.Conn]struct{})}
	s.http = http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !s.begin() {
				http.Error(w, "stopping", http.StatusServiceUnavailable)
				return
			}
			defer s.running.Done()
			defer s.serving(r)()
			w.Header().Set("X-Content-Type-Options", "nosniff")
			if why := own.crossSite(r); why != "" {
				http.Error(w, why, http.StatusForbidden)
				return
			}
			handler.ServeHTTP(w, r)
		}),
		ReadTimeout:    readTimeout,
		WriteTimeout:   writeTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeaders,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext:    func(net.Listener) context.Context { return ctx },
		ConnContext:    func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ConnState:      s.track,
	}
	return s
}

// track keeps note of connections that have sent nothing yet, and of those that wait for the
// rest of a request.
func (s *Server) track(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew {
		s.fresh[c] = struct{}{}
	} else {
		delete(s.fresh, c)
	}
	switch state {
	case http.StateNew:
		if s.waiting.open(c); len(s.waiting.at) > maxConns {
			s.waiting.evict(c)
		}
	case http.StateClosed, http.StateHijacked:
		s.waiting.closed(c)
	}
}

// serving notes that the request of a connection has come, or will have come with its body, until the returned function is
// called.
func (s *Server) serving(r *http.Request) (done func()) {
	c, ok := r.Context().Value(connKey{}).(net.Conn)
	if !ok {
		return func() {}
	}
	came := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waiting.leave(c)
	}
	if r.ContentLength == 0 {
		came()
	} else {
		r.Body = &body{r.Body, came}
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waiting.enter(c)
	}
}

// closeFresh closes these: http.Server would wait for them.
func (s *Server) closeFresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.fresh {
		_ = c.Close()
	}
}

// begin notes a request, unless the server closes.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.running.Add(1)
	return true
}

// index lists the pages.
func index(pages []Page) http.Handler {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Ringside</title>\n<h1>Ringside</h1>\n<ul>\n")
	for _, p := range pages {
		fmt.Fprintf(&b, "<li><a href=\"%s\">%[1]s</a>: %s</li>\n", html.EscapeString(p.Path), html.EscapeString(p.Title))
	}
	b.WriteString("</ul>\n")
	text := []byte(b.String())
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text)
	})
}

// Serve answers requests until the listener fails or Close is called, which makes
// it return http.ErrServerClosed. It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	return s.http.Serve(l)
}

// Close stops serving: running requests may finish until ctx is done, then they are
// cut off. Nothing of the server runs afterwards.
func (s *Server) Close(ctx context.Context) error {
	s.closeFresh()
	err := s.http.Shutdown(ctx)
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.cancel()
	if err != nil {
		_ = s.http.Close()
		err = fmt.Errorf("close: requests were cut off: %w", err)
	}
	s.running.Wait()
	return err
}
