package result

import (
	"time"
)

const (
	// openWindows is how many of the newest windows are ready to take more; older ones are
	// packed, and what comes late costs more.
	openWindows = 20
	// thin is how many old windows share a histogram, and keep how many of the newest do
	// not. Figures of each window stay.
	thin = 64
	keep = 100 * thin
)

// A window is what clients saw in a piece of time.
type window struct {
	counts  counts
	latency hist
}

// A packed window is one that takes little memory.
type packed struct {
	counts  counts
	latency []byte
}

// windows are those of a series, from the first on without gaps: the oldest by thin
// together, then packed ones, then open ones.
type windows struct {
	figures []Window // of those that are together
	old     []packed
	packed  []packed
	open    []*window
	spare   *window
	length  time.Duration
}

// at finds the window with a number, or makes it, and those before it.
func (w *windows) merge(number int64, from *window) {
	number = max(number, 0)
	for int64(w.count()) <= number {
		w.grow()
	}
	i := int(number) - len(w.figures)
	switch {
	case i < 0:
		w.late(&w.old[number/thin], from)
		f := &w.figures[number]
		f.Operations += from.counts.operations
		f.Failed += from.counts.failed
		f.Unknown += from.counts.unknown
		f.Redirected += from.counts.redirected
		f.Max = max(f.Max, float64(from.latency.max))
	case i < len(w.packed):
		w.late(&w.packed[i], from)
	default:
		to := w.open[i-len(w.packed)]
		to.counts.merge(&from.counts)
		to.latency.merge(&from.latency)
	}
}

func (w *windows) count() int { return len(w.figures) + len(w.packed) + len(w.open) }

func (w *windows) late(p *packed, from *window) {
	h := hist{digits: coarse}
	h.unpack(p.latency)
	h.merge(&from.latency)
	p.counts.merge(&from.counts)
	p.latency = h.pack(nil)
}

func (w *windows) grow() {
	next := w.spare
	w.spare = nil
	if next == nil {
		next = &window{latency: hist{digits: coarse}}
	}
	w.open = append(w.open, next)
	if len(w.open) <= openWindows {
		return
	}
	first := w.open[0]
	w.packed = append(w.packed, packed{first.counts, first.latency.pack(nil)})
	copy(w.open, w.open[1:])
	w.open = w.open[:openWindows]
	first.counts = counts{}
	first.latency.reset()
	w.spare = first
	if len(w.packed) < keep+thin {
		return
	}
	var together packed
	h := hist{digits: coarse}
	for i := range thin {
		p := &w.packed[i]
		w.figures = append(w.figures, w.figure(len(w.figures), &p.counts, p.hist()))
		together.counts.merge(&p.counts)
		h.unpack(p.latency)
	}
	together.latency = h.pack(nil)
	w.old = append(w.old, together)
	w.packed = append(w.packed[:0], w.packed[thin:]...)
}

func (p *packed) hist() *hist {
	h := &hist{digits: coarse}
	h.unpack(p.latency)
	return h
}

func (w *windows) figure(number int, c *counts, h *hist) Window {
	q := h.quantiles(0.5, 0.99, 0.999)
	return Window{
		AtMS:       milliseconds(time.Duration(number) * w.length),
		Operations: c.operations, Failed: c.failed, Unknown: c.unknown, Redirected: c.redirected,
		P50: q[0], P99: q[1], P999: q[2], Max: float64(h.max),
	}
}

// all are the figures of each.
func (w *windows) all() []Window {
	r := append([]Window(nil), w.figures...)
	for i := range w.packed {
		p := &w.packed[i]
		r = append(r, w.figure(len(r), &p.counts, p.hist()))
	}
	for _, o := range w.open {
		r = append(r, w.figure(len(r), &o.counts, &o.latency))
	}
	return r
}

// between merges those that end after one time and not after another: what happens within a
// window is the beginning of what comes. The oldest count by when all end that are together.
func (w *windows) between(from, until time.Duration) *window {
	sum := &window{latency: hist{digits: coarse}}
	for i := range w.old {
		w.add(sum, i*thin, thin, from, until, &w.old[i].counts, w.old[i].latency, nil)
	}
	base := len(w.figures)
	for i := range w.packed {
		w.add(sum, base+i, 1, from, until, &w.packed[i].counts, w.packed[i].latency, nil)
	}
	base += len(w.packed)
	for i, o := range w.open {
		w.add(sum, base+i, 1, from, until, &o.counts, nil, &o.latency)
	}
	return sum
}

// add takes n windows from a number on into a sum, if they belong there. A pause belongs
// where it ended: what was under way when a node died began before that.
func (w *windows) add(sum *window, number, n int, from, until time.Duration, c *counts, packed []byte, h *hist) {
	end := time.Duration(number+n) * w.length
	if c.pause.until > from && c.pause.until <= until {
		sum.counts.pause.widen(c.pause)
	}
	if end <= from || end > until {
		return
	}
	sum.counts.merge(c)
	if h != nil {
		sum.latency.merge(h)
	} else {
		sum.latency.unpack(packed)
	}
}
