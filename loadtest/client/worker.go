package client

import (
	"slices"
	"time"

	"github.com/ringside-kv/ringside/loadtest/check"
	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A worker is one client: it asks, through a link, and notes what becomes of it. It belongs
// to one goroutine.
type worker struct {
	l    *Load
	link link
	rec  *result.Recorder // nil: nothing is recorded
	chk  *check.Client    // nil: nothing is verified
	// heard, if not nil, hears what became of each as well.
	heard func(f *flight, seen result.Outcome, r *wire.Reply)

	flights []flight // a ring
	first   int      // the oldest flight that has not ended
	flying  int      // flights that have not ended
	ended   []result.Op
	endedAt time.Duration
	refused int // flights of this exchange that were refused
	answer  check.Answer
	one     [1][]byte

	bell bell          // in an open loop, for when the next is due
	rung chan struct{} // by the bell
	ring func()
}

func (l *Load) newWorker(k link) *worker {
	w := &worker{l: l, link: k, rung: make(chan struct{}, 1)}
	w.ring = func() {
		select {
		case w.rung <- struct{}{}:
		default:
		}
	}
	return w
}

// A flight is an operation on its way.
type flight struct {
	command     int
	writes      bool
	keys        []int64
	begin, sent time.Duration // since the load was opened
	bytes       int
}

// begin puts an operation on its way. begin is when it was to begin, now when it does.
func (w *worker) begin(op *workload.Op, kind check.Kind, begin, now time.Duration) {
	if w.chk != nil {
		w.chk.Begin(kind, op, now)
	}
	if w.flying == len(w.flights) {
		w.flights = slices.Concat(w.flights[w.first:], w.flights[:w.first], make([]flight, w.flying+1))
		w.first = 0
	}
	f := &w.flights[(w.first+w.flying)%len(w.flights)]
	w.flying++
	*f = flight{
		command: op.Command, writes: op.Write > 0, keys: append(f.keys[:0], op.Keys...),
		begin: begin, sent: now, bytes: w.link.add(op),
	}
}

// end takes what became of the oldest flight.
func (w *worker) end(o *outcome) {
	f := &w.flights[w.first]
	w.first = (w.first + 1) % len(w.flights)
	w.flying--
	var seen result.Outcome
	redirected := o.redirected
	switch {
	case o.reply == nil && o.sent && f.writes:
		seen = result.Unknown
	case o.reply == nil:
		seen = result.Refused
	case o.reply.Kind == '-':
		var n int64
		seen, n = classify(o.reply.Text, f.writes)
		redirected += n
	}
	if seen == result.Refused || seen == result.Unknown {
		w.refused++
	}
	if w.chk != nil {
		w.verify(seen, o)
	}
	if w.heard != nil {
		w.heard(f, seen, o.reply)
	}
	if w.rec == nil {
		return
	}
	if o.at != w.endedAt {
		w.record()
		w.endedAt = o.at
	}
	op := result.Op{
		Begin: f.begin - w.l.began, Sent: f.sent - w.l.began, Command: f.command, Keys: f.keys, Outcome: seen,
		Answered: o.reply != nil, Redirected: redirected, Written: int64(f.bytes),
	}
	if o.reply != nil {
		op.Read = int64(o.reply.Size)
	}
	w.ended = append(w.ended, op)
}

func (w *worker) verify(seen result.Outcome, o *outcome) {
	a := &w.answer
	*a = check.Answer{Outcome: seen}
	if o.reply != nil {
		a.Integer = o.reply.Int
		switch o.reply.Kind {
		case '*':
			a.Values = o.reply.Values
		case '$':
			w.one[0] = o.reply.Text
			a.Values = w.one[:]
		}
	}
	w.chk.End(a, o.at)
}

// record hands on what has ended at one time. It must be called before further flights begin, which
// take the memory of those that have ended.
func (w *worker) record() {
	if len(w.ended) > 0 {
		w.rec.Add(w.endedAt-w.l.began, w.ended)
		w.ended = w.ended[:0]
	}
}

// exchange sends what has begun, and waits for all of it.
func (w *worker) exchange() {
	w.refused = 0
	w.link.exchange(w)
	w.record()
}

// closed asks as soon as it has been answered.
func (w *worker) closed(c *workload.Client) {
	l := w.l
	backoff := time.Duration(0)
	for l.asking.Err() == nil {
		free := l.now()
		if !w.link.ready() {
			return
		}
		now := l.now()
		for range l.cfg.Pipeline {
			op := c.Next()
			w.begin(op, l.kinds[op.Command], free, now)
		}
		w.exchange()
		pause := l.cfg.Think
		if w.refused == l.cfg.Pipeline {
			// Servers that do not serve are not helped by being asked all the time.
			backoff = min(max(2*backoff, time.Millisecond), 16*time.Millisecond)
			pause = max(pause, backoff)
		} else {
			backoff = 0
		}
		if pause > 0 && !sleep(l.asking, pause) {
			return
		}
	}
}
