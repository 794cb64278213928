package nodetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	// keys are written at a time.
	keys = 6
	// After so many commands, or so many of unknown outcome, a key is left alone and
	// another takes its place: what has to be tried to judge a key grows with both.
	mostOps, mostUnknown = 250, 5
)

// A Recorder is a history in the making. Its methods may be called from any goroutine.
type Recorder struct {
	began time.Time

	prefix string // of its keys

	mu      sync.Mutex
	clock   int64
	ops     []*Op
	current []string
	counts  map[string]*count
	born    int
	refused int
	calm    time.Duration   // when the last fault was over; 0: it is not
	gaps    map[string]*gap // by key, reads and writes apart
}

type count struct{ ops, unknown int }

// NewRecorder begins a history of keys that nobody has written yet: their prefix is new.
func NewRecorder(prefix string) *Recorder {
	r := &Recorder{
		prefix: prefix, began: time.Now(), current: make([]string, keys), counts: map[string]*count{},
		gaps: map[string]*gap{},
	}
	for i := range r.current {
		r.renew(i)
	}
	return r
}

// renew puts a new key in a place. Even places have numbers, odd ones text.
func (r *Recorder) renew(i int) {
	r.born++
	kind := "number"
	if i%2 == 1 {
		kind = "text"
	}
	r.current[i] = fmt.Sprintf("%s%s:%d", r.prefix, kind, r.born)
	r.counts[r.current[i]] = new(count)
}

// pick chooses a key that is written now.
func (r *Recorder) pick(rnd *rand.Rand) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current[rnd.IntN(keys)]
}

// All are the keys that have ever been written, in their order.
func (r *Recorder) All() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for key, n := range r.counts {
		if n.ops > 0 {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}

// ask notes that a command is about to be sent.
func (r *Recorder) ask(o *Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock++
	o.asked, o.AskedAt = r.clock, time.Since(r.began)
	r.gap(o).ask(o.AskedAt)
}

// answer notes what became of a command.
func (r *Recorder) answer(o *Op, as outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock++
	o.AnswerdAt = time.Since(r.began)
	r.gap(o).answer(o.AnswerdAt, r.calm, as == done)
	n := r.counts[o.Key]
	switch as {
	case refused:
		r.refused++
		return
	case outcomeUnknown:
		n.unknown++
		o.Unknown = true
	case done:
		o.answered = r.clock
	}
	n.ops++
	r.ops = append(r.ops, o)
	if i := slices.Index(r.current, o.Key); i >= 0 && (n.ops >= mostOps || n.unknown >= mostUnknown) {
		r.renew(i)
		// Those who still wait for it wait for one node each: others would be answered.
		for _, name := range []string{"read " + o.Key, "write " + o.Key} {
			if g := r.gaps[name]; g != nil {
				g.waits = false
			}
		}
	}
}

// Final are the values that were read last, of keys that nothing changes any more.
func (r *Recorder) Final() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	values, changed := map[string]string{}, map[string]int64{}
	for _, o := range r.ops {
		if o.writes() {
			changed[o.Key] = max(changed[o.Key], o.answered)
		}
	}
	for _, o := range r.ops {
		if o.Command == "GET" && r.counts[o.Key].unknown == 0 && o.asked > changed[o.Key] {
			values[o.Key] = o.Reply
		}
	}
	return values
}

// An outcome is what is known of a command that was sent.
type outcome int

const (
	done    outcome = iota
	refused         // it was certainly not done, or it was a read, of which nobody knows more
	outcomeUnknown
)

func (r *Recorder) gap(o *Op) *gap {
	name := "read " + o.Key
	if o.writes() {
		name = "write " + o.Key
	}
	g := r.gaps[name]
	if g == nil {
		g = new(gap)
		r.gaps[name] = g
	}
	return g
}

// A gap is how long a key was asked for in vain.
type gap struct {
	open    int // commands under way
	waits   bool
	since   time.Duration
	longest time.Duration
	calm    time.Duration // the longest after the last fault
}

func (g *gap) ask(now time.Duration) {
	g.open++
	if !g.waits {
		g.waits, g.since = true, now
	}
}

func (g *gap) answer(now, calm time.Duration, ok bool) {
	g.open--
	if !g.waits {
		return
	}
	if ok {
		g.longest = max(g.longest, now-g.since)
		if calm > 0 {
			g.calm = max(g.calm, now-max(g.since, calm))
		}
		g.waits, g.since = g.open > 0, now
	}
}

// Calm notes that the last fault is over.
func (r *Recorder) Calm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calm = time.Since(r.began)
}

// Counts tell what became of all commands, and the longest that any one key was written,
// or read, in vain: at any time, and after the last fault.
type Counts struct {
	Done, Refused, Unknown    int
	LongestRead, LongestWrite time.Duration
	LongestCalm               time.Duration
	// Calm is what LongestCalm was of: "read" or "write", and the key.
	Calm string
}

// Counts are those until now.
func (r *Recorder) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := Counts{Refused: r.refused}
	for _, o := range r.ops {
		if o.Unknown {
			c.Unknown++
		} else {
			c.Done++
		}
	}
	for name, g := range r.gaps {
		if g.calm > c.LongestCalm {
			c.LongestCalm, c.Calm = g.calm, name
		}
		if name[0] == 'w' {
			c.LongestWrite = max(c.LongestWrite, g.longest)
		} else {
			c.LongestRead = max(c.LongestRead, g.longest)
		}
	}
	return c
}
