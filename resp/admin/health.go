package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// An Engine is what health depends on. store.Store is one.
type Engine interface {
	// Writable returns nil, or why writes are refused.
	Writable() error
	// Fatal is closed when the engine has stopped for good.
	Fatal() <-chan struct{}
}

// A Check is one condition of readiness.
type Check struct {
	// Name is one word.
	Name string
	// Note is what is the matter although the condition holds; empty if nothing is.
	Note string
	// Err is why the condition does not hold; nil if it does.
	Err error
}

// Health is what probes are told. The zero Health is that of a process that starts.
// Its methods may be called from any goroutine.
type Health struct {
	mu       sync.Mutex
	engine   Engine // nil while starting
	also     func() []Check
	stopping bool
}

// Also makes readiness depend on further checks. The function is called for each probe, and
// must not block. It is set before Started.
func (h *Health) Also(checks func() []Check) {
	h.mu.Lock()
	h.also = checks
	h.mu.Unlock()
}

// Started says that the process serves, from an engine.
func (h *Health) Started(engine Engine) {
	h.mu.Lock()
	h.engine = engine
	h.mu.Unlock()
}

// Stopping says that the process is about to end.
func (h *Health) Stopping() {
	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
}

// Alive returns nil, or why only a restart helps.
func (h *Health) Alive() error {
	h.mu.Lock()
	engine := h.engine
	h.mu.Unlock()
	if engine == nil {
		return nil
	}
	select {
	case <-engine.Fatal():
	default:
		return nil
	}
	if err := engine.Writable(); err != nil {
		return err
	}
	return errors.New("the storage engine has stopped")
}

// Checks are the conditions of readiness. The process is ready if all hold: then it answers
// for all keys that it should serve, and takes writes.
func (h *Health) Checks() []Check {
	h.mu.Lock()
	engine, also, stopping := h.engine, h.also, h.stopping
	h.mu.Unlock()
	process := Check{Name: "process"}
	switch {
	case stopping:
		process.Err = errors.New("stopping")
	case engine == nil:
		process.Err = errors.New("starting")
	}
	if process.Err != nil || engine == nil {
		return []Check{process}
	}
	all := []Check{process, {Name: "storage", Err: h.Alive()}}
	if also != nil {
		all = append(all, also()...)
	}
	writes := Check{Name: "writes"}
	if err := engine.Writable(); err != nil {
		writes.Err = fmt.Errorf("writes are refused: %w", err)
	}
	return append(all, writes)
}

// Ready returns nil if the process is ready, else why not. note is what is the matter with
// one that is.
func (h *Health) Ready() (note string, err error) { return Summary(h.Checks()) }

// Summary returns why the first check that does not hold does not, or else the notes of all.
func Summary(checks []Check) (note string, err error) {
	var notes []string
	for _, c := range checks {
		if c.Err != nil {
			return "", c.Err
		}
		if c.Note != "" {
			notes = append(notes, c.Note)
		}
	}
	return strings.Join(notes, "; "), nil
}

func (h *Health) serveAlive(w http.ResponseWriter, _ *http.Request) {
	probeReply(w, "", h.Alive())
}

func (h *Health) serveReady(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Has("verbose") {
		verboseReply(w, h.Checks())
		return
	}
	note, err := h.Ready()
	probeReply(w, note, err)
}

// verboseReply answers 200 or 503, with a line for each check.
func verboseReply(w http.ResponseWriter, checks []Check) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	var b strings.Builder
	ready := true
	for _, c := range checks {
		switch {
		case c.Err != nil:
			ready = false
			fmt.Fprintf(&b, "%s failed: %v\n", c.Name, c.Err)
		case c.Note != "":
			fmt.Fprintf(&b, "%s ok: %s\n", c.Name, c.Note)
		default:
			fmt.Fprintf(&b, "%s ok\n", c.Name)
		}
	}
	if !ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write([]byte(b.String()))
}

// probeReply answers 200 or 503, with the reason as the body.
func probeReply(w http.ResponseWriter, note string, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	text := "ok"
	switch {
	case err != nil:
		w.WriteHeader(http.StatusServiceUnavailable)
		text = err.Error()
	case note != "":
		text += ": " + note
	}
	_, _ = w.Write([]byte(text + "\n"))
}
