package processors

// A window is what was seen in a while, each as a number of processors: seconds per second.
type window struct {
	ran    float64 // what the process had
	waited float64 // its threads that could have run and had no processor, on average
	idle   float64 // those that had nothing to do
}

// What a governor goes by. SADD of one member, in pipelines of 16 from a client that was always
// busy, both on two processors, ran for 0.8 to 1.0 and waited for 0.4 to 1.1; with one thread it
// ran for 1.0, waited for 0.05 at most, and 0.1 were idle at most. Where one thread was not
// enough, as for SET, it was 1.3 to 1.8 with two, and with one at least 0.3 were idle.
const (
	crowded  = 0.35 // have this many threads wait for a processor, and there are too many of them
	full     = 1.02 // times what fewer threads can use is too much for them
	slack    = 0.6  // times that is too little to care
	saturate = 0.9  // times the threads there are want to run, and all of them are wanted
	ousted   = 0.2  // times the threads wait, and it is for others, not for each other
	spare    = 0.25 // processors have nothing to do, and one more could be used
	quiet    = 0.5  // times the threads there are want to run, and there is no need to be careful
)

const (
	enough    = 2   // windows in a row have one too many, and it is given up
	soon      = 10  // windows in which a change shows whether it was wrong
	shortHold = 6   // windows without another try after the first that was wrong, then twice as many
	longHold  = 640 // at most
)

// A governor says on how many processors at a time to run. It is not safe for concurrent use.
type governor struct {
	most  int // as many as Go would take
	now   int
	often int // windows in a row in which there was one too many
	since int // windows since the last one was given up
	hold  int // windows in which none is given up
	next  int // the next hold
}

func newGovernor(most int) *governor {
	return &governor{most: most, now: most, next: shortHold}
}

// see returns on how many processors to run after a window.
func (g *governor) see(w window) int {
	g.since++
	g.hold = max(0, g.hold-1)
	wanted, threads := w.ran+w.waited, float64(g.now)
	switch {
	case g.now < g.most && wanted < quiet*threads:
		g.now, g.next = g.most, shortHold
	case g.now < g.most && wanted >= saturate*threads && (w.idle >= spare || w.waited >= ousted*threads):
		g.now++
		if g.since <= soon {
			g.hold, g.next = g.next, min(2*g.next, longHold)
		}
	case g.hold == 0 && g.tooMany(w):
		if g.often++; g.often < enough {
			return g.now
		}
		g.now, g.since = g.now-1, 0
	}
	g.often = 0
	return g.now
}

// tooMany reports whether one thread less would have done the same in a window.
func (g *governor) tooMany(w window) bool {
	fewer := float64(g.now - 1)
	return w.waited >= crowded && w.idle < 1 && w.ran <= full*fewer && w.ran >= slack*fewer
}
