package result

import (
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A Series is what all clients saw. Its methods may be called from any goroutine, while
// clients record or after. Times are counted from its beginning.
//
// Memory does not grow with the number of operations. A window takes some hundred bytes;
// of all but the newest few thousand, 64 together have one histogram: a day of windows of
// 100 ms takes about 180 MB. Their figures stay; only the latency of
// [Series.Between] becomes coarser for what is long ago.
type Series struct {
	cfg     SeriesConfig
	shards  [maxShards]shard
	phase   atomic.Int64 // the number of the present one
	failing failing

	mu      sync.Mutex // taken after a shard's
	windows windows
	phases  []*phase
	ended   bool
}

// NewSeries returns one that begins with a first phase.
func NewSeries(cfg SeriesConfig, first string) (*Series, error) {
	if cfg.Name == nil {
		cfg.Name = func(key int64) string { return strconv.FormatInt(key, 10) }
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Series{cfg: cfg}
	s.windows.length, s.windows.open.latency.digits = cfg.Window, coarse
	s.failing.since = map[int64]pause{}
	for i := range s.shards {
		s.shards[i].window.latency.digits = coarse
		s.shards[i].phase = newPhase(len(cfg.Commands))
	}
	s.begin(first, 0)
	return s, nil
}

// Recorder returns that of client i, counted from 0 on.
func (s *Series) Recorder(i int) *Recorder { return &Recorder{s: s, shard: &s.shards[i%maxShards]} }

// Phase ends the present phase, and begins another. Operations count for the phase in which
// they end. A phase that has just begun gets the name instead.
func (s *Series) Phase(name string, at time.Duration) {
	s.gather()
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.phases[len(s.phases)-1]; last.from >= at {
		last.name = name
		return
	}
	s.begin(name, at)
}

func (s *Series) begin(name string, at time.Duration) {
	if n := len(s.phases); n > 0 {
		s.phases[n-1].until = at
	}
	p := newPhase(len(s.cfg.Commands))
	p.name, p.from, p.until = name, at, at
	s.phases = append(s.phases, &p)
	s.phase.Store(int64(len(s.phases) - 1))
}

// End ends the last phase.
func (s *Series) End(at time.Duration) {
	s.gather()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	s.phases[len(s.phases)-1].until = at
	s.windows.merge(max(int64((at-1)/s.cfg.Window), 0), &window{latency: hist{digits: coarse}}) // windows go up to the end
}

// gather takes in what shards have.
func (s *Series) gather() {
	for i := range s.shards {
		d := &s.shards[i]
		d.mu.Lock()
		s.takeWindow(d)
		s.takePhase(d)
		d.mu.Unlock()
	}
}

// takeWindow and takePhase need the shard's lock.
func (s *Series) takeWindow(d *shard) {
	if d.window.counts.operations == 0 {
		return
	}
	s.mu.Lock()
	s.windows.merge(d.at, &d.window)
	s.mu.Unlock()
	d.window.counts = counts{}
	d.window.latency.reset()
}

func (s *Series) takePhase(d *shard) {
	if d.phase.counts.operations == 0 {
		return
	}
	s.mu.Lock()
	s.phases[d.number].merge(&d.phase)
	s.mu.Unlock()
	d.phase.reset()
}

// Phases are the phases, in order.
func (s *Series) Phases() []Phase {
	s.gather()
	s.mu.Lock()
	defer s.mu.Unlock()
	var r []Phase
	for i, p := range s.phases {
		if i < len(s.phases)-1 { // a pause may go on in the next one
			p.counts.pause.widen(s.windows.pause(p.from, p.until))
		}
		r = append(r, s.reportPhase(p))
	}
	return r
}

// All is everything as one phase.
func (s *Series) All() Phase {
	s.gather()
	s.mu.Lock()
	defer s.mu.Unlock()
	all := newPhase(len(s.cfg.Commands))
	all.name = "all"
	for _, p := range s.phases {
		all.merge(p)
		all.until = p.until
	}
	return s.reportPhase(&all)
}

// Windows are the windows, in order and without gaps. Operations count where they ended.
func (s *Series) Windows() []Window {
	s.gather()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.windows.all()
}

// Between is what clients saw from one time up to another, in windows that ended then, with
// two significant digits, without a histogram and without times of service. The longest
// pause is the longest of those that were under way then, up to the end of that time. The last window, which
// is cut short, belongs to times up to the end.
func (s *Series) Between(from, until time.Duration) Clients {
	s.gather()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended && until >= s.phases[len(s.phases)-1].until {
		until = math.MaxInt64
	}
	w := s.windows.between(from, until)
	return s.clients(&w.counts, &w.latency)
}

// A Live is how it goes.
type Live struct {
	Phase      string
	Operations int64 // so far
	Failed     int64
	Unknown    int64
	PerSecond  float64 // in the last second
	P99        float64 // in the last second, in microseconds
}

// Live is how it goes at a time, which is now.
func (s *Series) Live(now time.Duration) Live {
	s.gather()
	s.mu.Lock()
	defer s.mu.Unlock()
	live := Live{Phase: s.phases[len(s.phases)-1].name}
	for _, p := range s.phases {
		live.Operations += p.counts.operations
		live.Failed += p.counts.failed
		live.Unknown += p.counts.unknown
	}
	until := now / s.cfg.Window * s.cfg.Window
	from := max(until-max(time.Second, s.cfg.Window), 0)
	if until > from {
		w := s.windows.between(from, until)
		live.PerSecond = float64(w.counts.operations) / (until - from).Seconds()
		live.P99 = w.latency.quantiles(0.99)[0]
	}
	return live
}
