package page

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/ringside-kv/ringside/internal/uplot"
	"github.com/ringside-kv/ringside/replica/decisions"
	"github.com/ringside-kv/ringside/resp/admin"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
)

var (
	//go:embed page.html
	html string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// Config says what a page shows. Its functions are called from any goroutine.
type Config struct {
	// Status asks all nodes how they are.
	Status func(ctx context.Context) (*status.Report, error)
	// Placement returns the newest agreed placement; nil while the node knows none.
	Placement func() *ring.Placement
	// Decisions returns what the cluster has decided, the newest first.
	Decisions func() []decisions.Decision
	// WhatIf returns what would move after a change, and the placement then. The words are those after RING PLAN.
	WhatIf func(ctx context.Context, words []string) (text string, then *ring.Placement, err error)
	// Dial connects to the server of the node as a client at an address does, who has not logged in.
	Dial func(ctx context.Context, from net.Addr) (net.Conn, error)
	// Auth has streams of events end once their user may not see them any more: see [Page.Admit].
	Auth bool
	// NeedsPassword reports whether a client must send a password to become a user.
	NeedsPassword func(user string) bool
	// Histories returns the last hour of nodes that answer: of one, or of all that are alive if none is named.
	Histories func(ctx context.Context, node string) map[string][]Sample
	// Gather returns the metrics of the node.
	Gather func() ([]*dto.MetricFamily, error)
}

const (
	// period is how often a page is told how the cluster is.
	period = time.Second
	// mostStreams is how many pages are told at a time. More are refused.
	mostStreams = 32
	// maxChange bounds the words of a plan, in bytes.
	maxChange = 4096
	// admitPause is after how long the user of a stream is asked for again.
	admitPause = 10 * time.Second
	// writeTimeout is how long a browser may take for one event.
	writeTimeout = 10 * time.Second
)

// A Page serves the live page. Its methods may be called from any goroutine.
type Page struct {
	cfg     Config
	mux     http.ServeMux
	history history
	ctx     context.Context // ends with the page
	cancel  context.CancelFunc
	done    sync.WaitGroup

	streams chan struct{} // has room for each page that is told
	plans   chan struct{} // has room for the one plan that is made at a time

	mu     sync.Mutex // held while a report is made, so that pages share it
	report []byte
	at     time.Time
}

// New returns a page, and begins to keep figures of the node. Close must be called.
func New(cfg Config) *Page {
	p := &Page{cfg: cfg, streams: make(chan struct{}, mostStreams), plans: make(chan struct{}, 1)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.history.gather = cfg.Gather
	text := func(path, kind, body string) {
		p.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind+"; charset=utf-8")
			_, _ = w.Write([]byte(body))
		})
	}
	text("/{$}", "text/html", html)
	text("/page/page.css", "text/css", uplot.Style+style)
	text("/page/page.js", "text/javascript", script)
	text("/page/uplot.js", "text/javascript", uplot.Script)
	p.mux.HandleFunc("GET /api/v1/status", p.serveStatus)
	p.mux.HandleFunc("GET /api/v1/ranges", p.serveRanges)
	p.mux.HandleFunc("GET /api/v1/history", p.serveHistory)
	p.mux.HandleFunc("GET /api/v1/decisions", func(w http.ResponseWriter, _ *http.Request) { serveJSON(w, cfg.Decisions()) })
	p.mux.HandleFunc("GET /api/v1/plan", p.servePlan)
	p.mux.HandleFunc("GET /api/v1/events", p.serveEvents)
	p.mux.HandleFunc("POST "+ordersPath, p.serveOrder)
	p.done.Go(func() { p.history.run(p.ctx.Done()) })
	return p
}

// Pages are what the page serves beside /.
func (p *Page) Pages() []admin.Page {
	return []admin.Page{
		{Path: "/page/", Title: "script and style of the live page at /", Handler: p},
		{Path: "/api/v1/", Title: "JSON: status, ranges, decisions, history and events", Handler: p},
		{Path: ordersPath, Title: "orders of a user, by POST", Handler: p, Post: true},
	}
}

// Close ends the streams of events, and keeps no more figures.
func (p *Page) Close() {
	p.cancel()
	p.done.Wait()
}

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	p.mux.ServeHTTP(w, r.WithContext(ctx))
}

// An overview is the body of /api/v1/status.
type overview struct {
	*status.Report
	Remarks []status.Remark `json:"remarks"`
	// Imbalance is the load of the busiest node by its weight, as a multiple of the mean; 0 without load.
	Imbalance float64 `json:"load_imbalance"`
	Busiest   string  `json:"busiest,omitempty"`
}

// current returns a report that is at most a second old.
func (p *Page) current(ctx context.Context) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.report != nil && time.Since(p.at) < period*9/10 {
		return p.report, nil
	}
	r, err := p.cfg.Status(ctx)
	if err != nil {
		return nil, err
	}
	o := overview{Report: r, Remarks: r.Remarks()}
	o.Imbalance, o.Busiest = r.LoadImbalance()
	body, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode a report: %w", err)
	}
	p.report, p.at = body, time.Now()
	return body, nil
}

func (p *Page) serveStatus(w http.ResponseWriter, r *http.Request) {
	body, err := p.current(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	writeJSON(w, body)
}

func writeJSON(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(body); err == nil { // which others may write at the same time
		_, _ = io.WriteString(w, "\n")
	}
}

// ranges is the body of /api/v1/ranges: range i begins at token Starts[i] and ends before the next one, the last
// before the first. Nodes are told by their positions in Nodes, -1 is none.
type ranges struct {
	Nodes   []string `json:"nodes"`
	Starts  []uint32 `json:"starts"`
	Primary []int    `json:"primary"`
	Backups [][]int  `json:"backups"`
}

func rangesOf(p *ring.Placement) *ranges {
	all := &ranges{Nodes: []string{}, Starts: []uint32{}, Primary: []int{}, Backups: [][]int{}}
	known := map[string]int{"": -1}
	number := func(id string) int {
		n, ok := known[id]
		if !ok {
			n = len(all.Nodes)
			known[id] = n
			all.Nodes = append(all.Nodes, id)
		}
		return n
	}
	for row := range p.Rows() {
		all.Starts = append(all.Starts, uint32(row.Range.Start))
		all.Primary = append(all.Primary, number(row.Primary))
		backups := make([]int, len(row.Backups))
		for i, id := range row.Backups {
			backups[i] = number(id)
		}
		all.Backups = append(all.Backups, backups)
	}
	return all
}

func (p *Page) serveRanges(w http.ResponseWriter, _ *http.Request) {
	placement := p.cfg.Placement()
	if placement == nil {
		http.Error(w, "the node knows no placement yet", http.StatusServiceUnavailable)
		return
	}
	serveJSON(w, rangesOf(placement))
}

// A plan is the body of /api/v1/plan.
type plan struct {
	Text   string  `json:"text"`
	Ranges *ranges `json:"ranges"` // as they would be
}

// servePlan tells what would move. Planning asks all nodes, so one plan is made at a time.
func (p *Page) servePlan(w http.ResponseWriter, r *http.Request) {
	select {
	case p.plans <- struct{}{}:
		defer func() { <-p.plans }()
	default:
		http.Error(w, "another plan is being made", http.StatusServiceUnavailable)
		return
	}
	change := r.URL.Query().Get("change")
	if len(change) > maxChange {
		http.Error(w, "the change is longer than "+strconv.Itoa(maxChange)+" bytes", http.StatusBadRequest)
		return
	}
	text, then, err := p.cfg.WhatIf(r.Context(), strings.Fields(change))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	serveJSON(w, plan{text, rangesOf(then)})
}

// History returns the samples of the last hour; nil of a nil page.
func (p *Page) History() []Sample {
	if p == nil {
		return nil
	}
	return p.history.samples()
}

// allNodes asks for the sums of all nodes, in the place of a node's name.
const allNodes = "*"

// serveHistory serves the last hour of this node, of another, or of all nodes together.
func (p *Page) serveHistory(w http.ResponseWriter, r *http.Request) {
	node := r.URL.Query().Get("node")
	switch node {
	case "":
		serveJSON(w, p.History())
		return
	case allNodes:
		node = ""
	}
	histories := p.cfg.Histories(r.Context(), node)
	if len(histories) == 0 {
		http.Error(w, "no node of this name answers", http.StatusNotFound)
		return
	}
	if node == "" {
		serveJSON(w, merge(histories))
		return
	}
	serveJSON(w, append([]Sample{}, histories[node]...))
}

func serveJSON(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, body)
}

// serveEvents sends server-sent events: "status", once a second, with what /api/v1/status tells, and "sample" with
// each new sample of the history. While the cluster is not known there are "fault" events.
func (p *Page) serveEvents(w http.ResponseWriter, r *http.Request) {
	select {
	case p.streams <- struct{}{}:
		defer func() { <-p.streams }()
	default:
		http.Error(w, "too many pages are open: "+strconv.Itoa(mostStreams), http.StatusServiceUnavailable)
		return
	}
	// The server's deadlines are for short answers.
	c := http.NewResponseController(w)
	if err := c.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string, body []byte) bool {
		if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return false
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, body); err != nil {
			return false
		}
		return c.Flush() == nil
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	seen, admitted := p.history.newest(), time.Now()
	for {
		if p.cfg.Auth && time.Since(admitted) > admitPause {
			if code, _ := p.Admit(r); code == http.StatusUnauthorized || code == http.StatusForbidden {
				return
			}
			admitted = time.Now()
		}
		body, err := p.current(r.Context())
		if err != nil {
			text, _ := json.Marshal(err.Error()) // of a text
			if !send("fault", text) {
				return
			}
		} else if !send("status", body) {
			return
		}
		for _, s := range p.history.after(seen) {
			seen = s.At
			body, err := json.Marshal(s)
			if err != nil || !send("sample", body) {
				return
			}
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}
