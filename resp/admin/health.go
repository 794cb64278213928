package admin

import (
	"errors"
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

// Health is what probes are told. The zero Health is that of a process that starts.
// Its methods may be called from any goroutine.
type Health struct {
	mu       sync.Mutex
	engine   Engine // nil while starting
	also     func() (note string, err error)
	stopping bool
}

// Also makes readiness depend on something else, too: err says why the process is not
// ready, note what is the matter with one that is. It is called for each probe, and
// must not block. It is set before Started.
func (h *Health) Also(ready func() (note string, err error)) {
	h.mu.Lock()
	h.also = ready
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

// Ready returns nil if the process can serve, else why not. A process that refuses
// writes but answers reads is ready, and note tells what is the matter: to take it
// out of service would take its reads away, too, and help nobody.
func (h *Health) Ready() (note string, err error) {
	h.mu.Lock()
	engine, also, stopping := h.engine, h.also, h.stopping
	h.mu.Unlock()
	switch {
	case stopping:
		return "", errors.New("stopping")
	case engine == nil:
		return "", errors.New("starting")
	}
	if err := h.Alive(); err != nil {
		return "", err
	}
	if also != nil {
		if note, err = also(); err != nil {
			return "", err
		}
	}
	if err := engine.Writable(); err != nil {
		note = strings.TrimPrefix(note+"; writes are refused: "+err.Error(), "; ")
	}
	return note, nil
}

func (h *Health) serveAlive(w http.ResponseWriter, _ *http.Request) {
	probeReply(w, "", h.Alive())
}

func (h *Health) serveReady(w http.ResponseWriter, _ *http.Request) {
	note, err := h.Ready()
	probeReply(w, note, err)
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
