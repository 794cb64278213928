package chaos

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// A written is all that one client has written of its own keys, each once: write 2n sets a
// key and write 2n+1 removes it. Safe for concurrent use.
type written struct {
	name string

	mu     sync.Mutex
	writes []bool // whether each was acknowledged; the outcome of others is not known
}

// begin takes a number for a write.
func (w *written) begin(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.writes) <= n {
		w.writes = append(w.writes, false)
	}
}

func (w *written) acknowledged(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes[n] = true
}

// begun is the number that the next write has at least.
func (w *written) begun() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.writes)
}

func (w *written) key(n int) string { return fmt.Sprintf("%s:%d", w.name, n/2) }

// event is what is told of a write.
func (w *written) event(n int) string {
	return []string{"set ", "del "}[n%2] + w.key(n)
}

// A hearing is what one subscriber was told over one connection. Safe for concurrent use.
type hearing struct {
	through string
	since   int // the write from which on the subscription counts

	mu    sync.Mutex
	times map[string]int // events of the writer's keys
	early int            // a key's removal was told of before its making
	gaps  int
	// until is the write before which what is missing was reported as a gap.
	until int
	lost  bool      // the connection is lost: later messages may be missing without a fault
	last  time.Time // when something came
}

func (h *hearing) alive() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = time.Now()
}

// told notes a message of a channel, when a writer has begun so many writes.
func (h *hearing) told(channel, payload string, w *written) {
	begun := w.begun()
	h.mu.Lock()
	defer h.mu.Unlock()
	event := strings.TrimPrefix(channel, "__keyevent@0__:")
	key, own := strings.CutPrefix(payload, w.name+":")
	switch {
	case event == "gap":
		h.gaps++
		h.until = begun
	case !own:
	default:
		h.times[event+" "+payload]++
		if event == "del" && h.times["set "+w.name+":"+key] == 0 {
			h.early++
		}
	}
}

func (h *hearing) lose() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = true
}

// A verdict counts events of acknowledged writes after the subscription.
type verdict struct {
	heard  int
	missed int // which a gap covers
	gaps   int
	early  int
	lost   int // connections
}

func (v *verdict) add(o verdict) {
	v.heard, v.missed, v.gaps = v.heard+o.heard, v.missed+o.missed, v.gaps+o.gaps
	v.early, v.lost = v.early+o.early, v.lost+o.lost
}

// judge holds what a subscriber was told against what was written: each event once at most;
// that of an acknowledged write since the subscription once, unless a gap was reported since
// the write was begun or the connection was lost. One from which nothing came since a moment
// may be lost without that anybody knows, and silent tells so.
func (h *hearing) judge(w *written, since time.Time) (v verdict, silent bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	v.gaps, v.early = h.gaps, h.early
	silent = !h.lost && h.last.Before(since)
	if h.lost || silent {
		v.lost = 1
	}
	for n, acknowledged := range w.writes {
		times := h.times[w.event(n)]
		switch {
		case times > 1:
			return v, silent, fmt.Errorf("through %s the event %q came %d times", h.through, w.event(n), times)
		case !acknowledged || n < h.since:
		case times == 1:
			v.heard++
		case v.lost > 0:
		case n < h.until:
			v.missed++
		default:
			return v, silent, fmt.Errorf("through %s the event %q of an acknowledged write did not come, and no gap was reported: write %d of %d, subscribed since %d, %d gaps, the last at %d",
				h.through, w.event(n), n, len(w.writes), h.since, h.gaps, h.until)
		}
	}
	return v, silent, nil
}
