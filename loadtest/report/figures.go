package report

import (
	"math"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// A figure is one thing that is said of a run, or of an event of it. Tables, pages,
// assertions and their help all go by the same list of them.
type figure struct {
	key  string // as assertions name it
	name string // as tables name it, in at most 17 cells
	help string
	unit unit
	goal goal
	// never is for what must not happen: over rounds, the worst counts.
	never bool
	// settled figures can be compared only where everything got balanced: a run that is
	// not balanced yet has not moved less.
	settled bool
	// told figures of events also stand in short tables.
	told bool
	// hidden figures have no row: they are there for assertions.
	hidden bool
	// rare figures have a row only if one of them is not 0.
	rare bool
	// nodes figures are known only of contestants with known nodes.
	nodes bool
	// run or event is how it is found out, whichever of them it is a figure of.
	run   func(*result.Run) (float64, bool)
	event func(*result.Event) (float64, bool)
	// before is what the figure was before the event, for those that are shown with it.
	before func(*result.Event) (float64, bool)
}

// A goal says which of several is the best.
type goal uint8

const (
	none goal = iota // no value is better
	low
	high
	one // nearest to 1
)

// off is how far a value is from the goal; the least is the best.
func (g goal) off(x float64) float64 {
	switch {
	case g == high:
		return -x
	case g == one && x > 0:
		return math.Abs(math.Log(x))
	case g == one:
		return math.Inf(1)
	}
	return x
}

// aliases are other words for figures in assertions.
var aliases = map[string]string{"errors": "failed", "p999": "p99.9"}

// runFigures are those of a whole run, in the order of tables.
var runFigures = []figure{
	{key: "throughput", name: "throughput", unit: perSecond, goal: high, run: func(r *result.Run) (float64, bool) {
		return rate(r.All.Operations-r.All.Failed, r.All.UntilMS-r.All.FromMS)
	}, help: "operations per second that succeeded, from the first operation of the first client to the last"},
	{key: "p50", name: "p50", unit: micros, goal: low, run: latency(func(l *result.Latency) float64 { return l.P50 }),
		help: "half of the operations took no longer; counted from the moment at which an operation was due, so that waiting counts"},
	{key: "p99", name: "p99", unit: micros, goal: low, run: latency(func(l *result.Latency) float64 { return l.P99 }),
		help: "99 of 100 operations took no longer"},
	{key: "p99.9", name: "p99.9", unit: micros, goal: low, run: latency(func(l *result.Latency) float64 { return l.P999 }),
		help: "999 of 1,000 operations took no longer"},
	{key: "max", name: "slowest", unit: micros, goal: low, run: latency(func(l *result.Latency) float64 { return l.Max }),
		help: "the slowest operation"},
	{key: "mean", name: "mean", unit: micros, hidden: true, run: latency(func(l *result.Latency) float64 { return l.Mean }),
		help: "the mean of all operations"},
	{key: "service-p99", name: "p99 once sent", unit: micros, goal: low, rare: true, run: func(r *result.Run) (float64, bool) {
		if r.All.Service == nil {
			return 0, false
		}
		return r.All.Service.P99, true
	}, help: "with a rate: p99 counted from the moment at which an operation was sent, so that waiting does not count"},
	{key: "pause", name: "longest pause", unit: micros, goal: low, run: func(r *result.Run) (float64, bool) { return r.All.LongestPauseMS * 1000, ran(r) },
		help: "longest time for which one key could not be used: from the start of its first failed operation to the end of the last one in a row, or the slowest operation"},
	{key: "failed", name: "failed", unit: count, goal: low, never: true, run: func(r *result.Run) (float64, bool) { return float64(r.All.Failed), ran(r) },
		help: "operations that ended with an error"},
	{key: "unknown", name: "unknown outcome", unit: count, goal: low, never: true, run: func(r *result.Run) (float64, bool) { return float64(r.All.Unknown), ran(r) },
		help: "operations whose outcome is not known: the connection broke before the reply"},
	{key: "redirected", name: "redirected", unit: count, rare: true, run: func(r *result.Run) (float64, bool) { return float64(r.All.Redirected), ran(r) },
		help: "redirects (MOVED, ASK) that clients followed"},
	{key: "lost", name: "lost", unit: count, goal: low, never: true, run: checked(func(c *result.Checked) int64 { return c.Lost }),
		help: "replies without a value that had been acknowledged; must be 0"},
	{key: "stale", name: "stale", unit: count, goal: low, never: true, run: checked(func(c *result.Checked) int64 { return c.Stale }),
		help: "replies with a value that had been overwritten before the request; must be 0"},
	{key: "corrupt", name: "corrupt", unit: count, goal: low, never: true, run: checked(func(c *result.Checked) int64 { return c.Corrupt }),
		help: "replies with a value that was never written; must be 0"},
	{key: "unread", name: "unread at the end", unit: count, goal: low, never: true, rare: true, run: checked(func(c *result.Checked) int64 { return c.FinalUnread }),
		help: "keys that could not be read in the check at the end, which reads all keys once more"},
	{key: "moved", settled: true, name: "keys moved", unit: count, nodes: true, run: sum(func(e *result.Event) float64 { return float64(e.MovedKeys) }),
		help: "copies of keys sent to another node, in all events; a key whose primary and one backup move counts twice; runs that were not balanced in time are not compared"},
	{key: "moved-bytes", settled: true, name: "bytes moved", unit: sized, nodes: true, run: sum(func(e *result.Event) float64 { return float64(e.MovedBytes) }),
		help: "their bytes"},
	{key: "moved/least", settled: true, name: "÷ least possible", unit: factor, goal: one, nodes: true, run: movedByLeast,
		help: "keys moved ÷ the least that any strategy must move to keep the load even; below 1 the load was not even, so the best is nearest to 1"},
	{key: "balanced", name: "until balanced", unit: micros, goal: low, nodes: true, run: longestUnbalanced,
		help: "longest time from an event until all keys and copies were in their place; missing if that was not so before the next event"},
	{key: "forwarded", name: "forwarded", unit: share, nodes: true, run: forwarded,
		help: "share of requests that a node forwarded to another, which has the key"},
	{key: "load", name: "keys loaded /s", unit: perSecond, run: func(r *result.Run) (float64, bool) { return rate(r.LoadKeys, r.LoadSeconds*1000) },
		help: "keys written per second before the measurement"},
	{key: "generator", name: "generator's cores", unit: plain, run: func(r *result.Run) (float64, bool) { return r.GeneratorCores, r.GeneratorCores > 0 },
		help: "processors that the clients used, on average"},
	{key: "saturated", name: "generator behind", unit: share, rare: true, run: func(r *result.Run) (float64, bool) { return r.GeneratorSaturated, ran(r) },
		help: "share of the time in which the clients were the bottleneck: the figures then show the limit of the generator, not of the servers"},
}

// eventFigures are those of an event, in the order of tables.
var eventFigures = []figure{
	{key: "moved", settled: true, name: "keys moved", unit: count, nodes: true, event: func(e *result.Event) (float64, bool) { return float64(e.MovedKeys), true },
		help: "copies of keys sent to another node from the event until the next"},
	{key: "moved-bytes", settled: true, name: "bytes moved", unit: sized, nodes: true, event: func(e *result.Event) (float64, bool) { return float64(e.MovedBytes), true },
		help: "their bytes"},
	{key: "moved/least", settled: true, told: true, name: "÷ least possible", unit: factor, goal: one, nodes: true, event: func(e *result.Event) (float64, bool) {
		if e.Factor == nil {
			return 0, false
		}
		return *e.Factor, true
	}, help: "moved by the least possible; the best is nearest to 1"},
	{key: "handoffs", name: "handoffs", unit: count, nodes: true, event: func(e *result.Event) (float64, bool) { return float64(e.Handoffs), true },
		help: "movements of ranges from one node to another"},
	{key: "balanced", told: true, name: "until balanced", unit: micros, goal: low, nodes: true, event: untilBalanced,
		help: "time until all keys and copies were in their place; missing if that was not so before the next event"},
	{key: "throughput-before", name: "throughput before", unit: perSecond, event: span(before, perSecondOf),
		help: "operations per second that succeeded, before the event"},
	{key: "throughput", told: true, name: "… during", unit: perSecond, goal: high, event: span(during, perSecondOf),
		help: "the same from the event until everything is balanced"},
	{key: "throughput-after", name: "… after", unit: perSecond, goal: high, event: span(after, perSecondOf),
		help: "the same from then until the next event"},
	{key: "p99-before", name: "p99 before", unit: micros, event: span(before, p99Of),
		help: "99 of 100 operations took no longer, before the event"},
	{key: "p99", told: true, name: "… during", unit: micros, goal: low, event: span(during, p99Of),
		help: "the same from the event until everything is balanced"},
	{key: "p99-after", name: "… after", unit: micros, goal: low, event: span(after, p99Of),
		help: "the same from then until the next event"},
	{key: "pause", told: true, name: "longest pause", unit: micros, goal: low, event: func(e *result.Event) (float64, bool) { return e.LongestPauseMS * 1000, true },
		help: "the longest pause of any key from the event until the next"},
	{key: "failed", told: true, name: "failed", unit: count, goal: low, never: true, event: func(e *result.Event) (float64, bool) { return float64(e.Failed), true },
		help: "operations that ended with an error from the event until the next"},
	{key: "unknown", name: "unknown outcome", unit: count, goal: low, never: true, event: func(e *result.Event) (float64, bool) { return float64(e.Unknown), true },
		help: "operations from the event until the next whose outcome is not known"},
	{key: "keys-max/mean", name: "keys max÷mean", unit: factor, goal: low, nodes: true,
		before: balance(balanceBefore, keysOf), event: balance(balanceAfter, keysOf),
		help: "keys of the fullest node as a multiple of its fair share, before the event and after; 1 is even"},
	{key: "bytes-max/mean", name: "bytes max÷mean", unit: factor, goal: low, nodes: true,
		before: balance(balanceBefore, bytesOf), event: balance(balanceAfter, bytesOf),
		help: "the same of bytes"},
	{key: "requests-max/mean", name: "requests max÷mean", unit: factor, goal: low, nodes: true,
		before: balance(balanceBefore, requestsOf), event: balance(balanceAfter, requestsOf),
		help: "the same of requests that nodes answered without forwarding"},
	{key: "hottest-range", name: "hottest range", unit: share, rare: true, nodes: true,
		before: balance(balanceBefore, hottestOf), event: balance(balanceAfter, hottestOf),
		help: "share of all operations that the busiest range has, before the event and after, by rates that decay to a third in 10 seconds; a range with more than a node's share cannot be evened out"},
}

// group is what figures have in common that stand below each other.
func (f *figure) group() string {
	of, _, _ := strings.Cut(f.key, "-")
	return of
}

// fullName is the figure's name where the row above does not begin it.
func (f *figure) fullName() string {
	if !strings.HasPrefix(f.name, "…") {
		return f.name
	}
	return f.group() + strings.TrimPrefix(f.name, "…")
}

func rate(n int64, milliseconds float64) (float64, bool) {
	return float64(n) / milliseconds * 1000, milliseconds > 0
}

// ran reports whether clients did anything.
func ran(r *result.Run) bool { return r.All.UntilMS > r.All.FromMS }

func latency(of func(*result.Latency) float64) func(*result.Run) (float64, bool) {
	return func(r *result.Run) (float64, bool) { return of(&r.All.Latency), r.All.Operations > 0 }
}

func checked(of func(*result.Checked) int64) func(*result.Run) (float64, bool) {
	return func(r *result.Run) (float64, bool) {
		if r.Checked == nil {
			return 0, false
		}
		return float64(of(r.Checked)), true
	}
}

func sum(of func(*result.Event) float64) func(*result.Run) (float64, bool) {
	return func(r *result.Run) (float64, bool) {
		total := 0.0
		for i := range r.Events {
			total += of(&r.Events[i])
		}
		return total, len(r.Events) > 0
	}
}

func movedByLeast(r *result.Run) (float64, bool) {
	moved, _ := sum(func(e *result.Event) float64 { return float64(e.MovedKeys) })(r)
	least, _ := sum(func(e *result.Event) float64 { return float64(e.LeastKeys) })(r)
	return moved / least, least > 0
}

func longestUnbalanced(r *result.Run) (longest float64, known bool) {
	for i := range r.Events {
		t, ok := untilBalanced(&r.Events[i])
		if !ok {
			return 0, false
		}
		longest, known = max(longest, t), true
	}
	return longest, known
}

func forwarded(r *result.Run) (float64, bool) {
	total := 0.0
	for i := range r.Samples {
		total += r.Samples[i].Forwarded
	}
	return total / float64(len(r.Samples)), len(r.Samples) > 0
}

// untilBalanced is in microseconds.
func untilBalanced(e *result.Event) (float64, bool) {
	if e.BalancedMS == nil {
		return 0, false
	}
	return (*e.BalancedMS - e.AtMS) * 1000, true
}

func before(e *result.Event) *result.Span { return &e.Before }
func during(e *result.Event) *result.Span { return &e.During }
func after(e *result.Event) *result.Span  { return &e.After }

func perSecondOf(s *result.Span) float64 { return s.PerSecond }
func p99Of(s *result.Span) float64       { return s.P99 }

func span(which func(*result.Event) *result.Span, of func(*result.Span) float64) func(*result.Event) (float64, bool) {
	return func(e *result.Event) (float64, bool) { return of(which(e)), which(e).Milliseconds > 0 }
}

func balanceBefore(e *result.Event) *result.Balance { return e.BalanceBefore }
func balanceAfter(e *result.Event) *result.Balance  { return e.BalanceAfter }

func keysOf(b *result.Balance) float64     { return b.Keys }
func bytesOf(b *result.Balance) float64    { return b.Bytes }
func requestsOf(b *result.Balance) float64 { return b.Requests }
func hottestOf(b *result.Balance) float64  { return b.HottestRange }

func balance(which func(*result.Event) *result.Balance, of func(*result.Balance) float64) func(*result.Event) (float64, bool) {
	return func(e *result.Event) (float64, bool) {
		b := which(e)
		if b == nil {
			return 0, false
		}
		return of(b), of(b) > 0
	}
}
