package result

import "time"

const (
	// thin is how many old windows share a histogram, and keep how many of the newest do not.
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
	latency []byte  // of an old window that of its group, at the first of it
	figures *Window // of an old window, as they were before it shared its latency
}

// windows are those of a series, from the first on without gaps. The one that has taken in
// something last is open, since clients tell of the same window one after the other; the others
// are only packed.
type windows struct {
	packed []packed
	old    int // how many are old; they are so in groups of thin
	open   window
	at     int // which is open
	length time.Duration
}

// merge adds to the window with a number. It makes that window, and those before it.
func (w *windows) merge(number int64, from *window) {
	at := int(max(number, 0))
	for len(w.packed) <= at {
		w.packed = append(w.packed, packed{})
	}
	if at < w.old {
		w.packed[at].counts.merge(&from.counts)
		f := w.packed[at].figures
		f.Max = max(f.Max, float64(from.latency.max))
		group := &w.packed[at-at%thin]
		h := group.hist()
		h.merge(&from.latency)
		group.latency = h.pack()
		return
	}
	if at != w.at {
		w.pack()
		w.at = at
		w.open = window{w.packed[at].counts, *w.packed[at].hist()}
	}
	w.open.counts.merge(&from.counts)
	w.open.latency.merge(&from.latency)
	if len(w.packed) >= w.old+keep+thin {
		w.thin()
	}
}

// thin has the next group share a histogram.
func (w *windows) thin() {
	together := hist{digits: coarse}
	group := w.packed[w.old : w.old+thin]
	for i := range group {
		f := w.figure(w.old + i)
		together.unpack(group[i].latency)
		group[i].figures, group[i].latency = &f, nil
	}
	group[0].latency = together.pack()
	w.old += thin
}

func (p *packed) hist() *hist {
	h := &hist{digits: coarse}
	h.unpack(p.latency)
	return h
}

// pack packs the open window, which stays open.
func (w *windows) pack() {
	if len(w.packed) > 0 {
		w.packed[w.at] = packed{w.open.counts, w.open.latency.pack(), nil}
	}
}

// all are the figures of each.
func (w *windows) all() []Window {
	w.pack()
	all := make([]Window, len(w.packed))
	for i := range all {
		all[i] = w.figure(i)
	}
	return all
}

func (w *windows) figure(i int) Window {
	p := &w.packed[i]
	f := p.figures
	if f == nil {
		h := p.hist()
		q := h.quantiles(0.5, 0.99, 0.999)
		f = &Window{AtMS: milliseconds(time.Duration(i) * w.length), P50: q[0], P99: q[1], P999: q[2], Max: float64(h.max)}
	}
	c := &p.counts
	f.Operations, f.Failed, f.Unknown, f.Redirected = c.operations, c.failed, c.unknown, c.redirected
	return *f
}

// between merges those that end after one time and not after another: what happens within a
// window is the beginning of what comes. Of old windows, the latency is that of all groups with
// such a window.
func (w *windows) between(from, until time.Duration) *window {
	w.pack()
	sum := &window{latency: hist{digits: coarse}}
	sum.counts.pause = w.pause(from, until)
	for i := max(int(from/w.length)-thin, 0); i < len(w.packed); i++ {
		p := &w.packed[i]
		end := time.Duration(i+1) * w.length
		if end > from && end <= until {
			sum.counts.merge(&p.counts)
		}
		last := end // of those that share the latency
		if i < w.old {
			last += (thin - 1) * w.length
		}
		if last > from && end <= until {
			sum.latency.unpack(p.latency)
		}
	}
	return sum
}

// pause is the longest that was under way between two times. What comes after them does not count, but what was
// before does: what was under way when a node died had begun by then.
func (w *windows) pause(from, until time.Duration) (longest pause) {
	w.pack()
	for i := range w.packed {
		p := w.packed[i].counts.pause
		if p.until = min(p.until, until); p.until > from {
			longest.widen(p)
		}
	}
	return longest
}
