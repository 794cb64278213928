package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// A pauseWatch is the nodes and what was found.
type pauseWatch struct {
	*pausesOptions
	crew  []*cluster.Process
	found map[string]*finding
	order []string // of the names in found
}

// A finding is the pauses of one event, and those of as much time without an event.
type finding struct {
	pauses, before latencies
	failed         int   // rounds in which requests of clients failed
	lapses         int64 // leases of the other nodes that ended meanwhile
	last           error
}

// round ends one node, watches keys meanwhile, and restarts the node.
func (w *pauseWatch) round(ctx context.Context, k kind, victim *cluster.Process) error {
	if err := w.settled(ctx); err != nil {
		return err
	}
	leader, err := w.leader()
	if err != nil {
		return err
	}
	name := k.name
	if k.leader {
		victim = leader
	} else if k.name == "kill" && victim == leader {
		name = "kill, of the leader"
	}
	keys, err := w.locateKeys(func(p cluster.Place) bool { return k.watched(p, victim.ID) })
	if err != nil {
		return err
	}
	err = w.note(ctx, name, victim, keys, k.before, k.after, func() error { return k.end(victim) })
	if err != nil {
		return err
	}
	if !k.back {
		return victim.Restart(ctx)
	}
	return w.note(ctx, "back", victim, keys, pauseQuiet, pauseQuiet, func() error {
		return errors.Join(victim.Restart(ctx), w.settled(ctx))
	})
}

// settled waits until nothing moves, for a while, and all have a vote.
func (w *pauseWatch) settled(ctx context.Context) error {
	for since := time.Now(); time.Since(since) < pauseQuiet; {
		began := time.Now()
		if err := cluster.WaitBalanced(ctx, w.crew); err != nil {
			return err
		}
		if time.Since(began) > time.Second {
			since = time.Now()
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// locateKeys returns keys whose places are as they should be, each of another range.
func (w *pauseWatch) locateKeys(as func(p cluster.Place) bool) (keys []string, err error) {
	c, err := cluster.Dial(w.crew[0].Addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var all []string
	for i := range candidates {
		all = append(all, fmt.Sprint("watched:", i))
	}
	places, err := c.Locate(all)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, p := range places {
		if as(p) && !seen[p.Range] && len(keys) < w.keys {
			seen[p.Range] = true
			keys = append(keys, all[i])
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("no key lies so that it can be watched")
	}
	return keys, nil
}

// but is the crew without one.
func (w *pauseWatch) but(n *cluster.Process) []*cluster.Process {
	return slices.DeleteFunc(slices.Clone(w.crew), func(other *cluster.Process) bool { return other == n })
}

// leader is the node that leads the table.
func (w *pauseWatch) leader() (*cluster.Process, error) {
	c, err := cluster.Dial(w.crew[0].Addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	words, err := c.Words()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(w.crew, func(n *cluster.Process) bool { return n.ID == words["leader"] })
	if i < 0 {
		return nil, fmt.Errorf("the leader is %q", words["leader"])
	}
	return w.crew[i], nil
}

// note measures the pauses of keys, by requests to all nodes but one: first for a while in which nothing
// happens, then from the beginning of an event on, until some time after its end.
func (w *pauseWatch) note(ctx context.Context, name string, n *cluster.Process, keys []string, still, after time.Duration, event func() error) error {
	ps := startProbes(ctx, keys, w.but(n), w.pause)
	defer ps.stop()
	if err := wait(ctx, 300*time.Millisecond); err != nil { // for their connections
		return err
	}
	from := time.Now()
	if err := wait(ctx, still); err != nil {
		return err
	}
	lapsed, err := sum(w.but(n), "lease_lapses")
	if err != nil {
		return err
	}
	at := time.Now()
	if err := event(); err != nil {
		return err
	}
	if err := wait(ctx, after); err != nil {
		return err
	}
	to := time.Now()
	ps.stop()
	since, err := sum(w.but(n), "lease_lapses")
	if err != nil {
		return err
	}
	f := w.found[name]
	if f == nil {
		f = new(finding)
		w.found[name], w.order = f, append(w.order, name)
	}
	f.lapses += since - lapsed
	var before, pauses latencies
	var failure error
	for _, p := range ps.all {
		before = append(before, p.longest(func(s span) bool { return s.began.After(from) && s.ended.Before(at) }))
		pauses = append(pauses, p.longest(func(s span) bool { return s.overlaps(at, to) }))
		failure = cmp.Or(failure, p.failed)
	}
	f.before = append(f.before, before...)
	f.pauses = append(f.pauses, pauses...)
	if failure != nil {
		f.failed++
		f.last = failure
	}
	if w.Verbose {
		fmt.Printf("%-22s %s: %v, and when nothing happens %v\n", name, n.ID, pauses, before)
	}
	return nil
}

func (w *pauseWatch) report() {
	fmt.Printf("pauses of keys, in ms\n%-22s %6s %9s %9s %9s %9s\n", "", "number", "least", "median", "p99", "most")
	for _, name := range w.order {
		f := w.found[name]
		fmt.Printf("%-22s %6d %s\n", name, len(f.pauses), f.pauses)
		fmt.Printf("%-22s %6s %s\n", "  when nothing happens", "", f.before)
		if f.lapses > 0 {
			fmt.Printf("  leases of nodes to which nothing happened ended %d times\n", f.lapses)
		}
		if f.failed > 0 {
			fmt.Printf("  clients were told of errors in %d rounds, as of %v\n", f.failed, f.last)
		}
	}
}

// String is the least, the median, the 99th percentile and the most, in milliseconds.
func (l latencies) String() string {
	if len(l) == 0 {
		return "nothing"
	}
	sorted := latencies(slices.Sorted(slices.Values(l)))
	at := func(share float64) string { return fmt.Sprintf("%.1f", sorted.quantile(share).Seconds()*1000) }
	return fmt.Sprintf("%9s %9s %9s %9s", at(0), at(0.5), at(0.99), at(1))
}
