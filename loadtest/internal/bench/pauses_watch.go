package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

const (
	// pauseQuiet is how long is measured before something happens, and after it is over.
	pauseQuiet = 2 * time.Second
	// failover is for how long keys are watched after a node was killed.
	failover = 8 * time.Second
	// candidates are so many keys, among which those are found that are watched.
	candidates = 2000
)

// A pauseWatch is the nodes, and what was found.
type pauseWatch struct {
	o     *pausesOptions
	crew  []*cluster.Process
	found map[string]*finding
	order []string
}

// A finding is the pauses of one kind, and those of as much time when nothing happened.
type finding struct {
	pauses, before []time.Duration
	failed         int   // rounds in which clients were told of errors
	lapses         int64 // leases of the other nodes that ended meanwhile
	last           error
}

func (w *pauseWatch) finding(name string) *finding {
	if w.found[name] == nil {
		w.found[name] = new(finding)
		w.order = append(w.order, name)
	}
	return w.found[name]
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

// keys are some, each of another range, whose places are as they should be.
func (w *pauseWatch) keys(as func(p cluster.Place) bool) ([]string, error) {
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
	var keys []string
	for i, p := range places {
		if as(p) && !seen[p.Range] && len(keys) < w.o.keys {
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

// lapses is how often leases of the nodes beside one have ended.
func (w *pauseWatch) lapses(n *cluster.Process) (all int64, err error) {
	for _, other := range w.but(n) {
		info, err := other.Info()
		if err != nil {
			return 0, err
		}
		all += info["lease_lapses"]
	}
	return all, nil
}

// note measures what a node goes through, by keys that others are asked for: first for as
// long as nothing happens, then from act on, until what act returns has passed.
func (w *pauseWatch) note(ctx context.Context, name string, n *cluster.Process, keys []string, still time.Duration, act func() (time.Duration, error)) error {
	ps := w.o.probe(ctx, keys, w.but(n))
	defer ps.stop()
	if err := wait(ctx, 300*time.Millisecond); err != nil { // for their connections
		return err
	}
	from := time.Now()
	if err := wait(ctx, still); err != nil {
		return err
	}
	lapsed, err := w.lapses(n)
	if err != nil {
		return err
	}
	at := time.Now()
	after, err := act()
	if err != nil {
		return err
	}
	if err := wait(ctx, after); err != nil {
		return err
	}
	to := time.Now()
	ps.stop()
	since, err := w.lapses(n)
	if err != nil {
		return err
	}
	f := w.finding(name)
	f.lapses += since - lapsed
	before, pauses := ps.pauses(from, at, to)
	f.before = append(f.before, before...)
	f.pauses = append(f.pauses, pauses...)
	if err := ps.failure(); err != nil {
		f.failed++
		f.last = err
	}
	if w.o.Verbose {
		fmt.Printf("%-22s %s: %v, and when nothing happens %v\n", name, n.ID, summary(pauses), summary(before))
	}
	return nil
}

// stopRound ends a node in order, and watches how its keys change hands, there and back.
func stopRound(ctx context.Context, w *pauseWatch, round int) error {
	if err := w.settled(ctx); err != nil {
		return err
	}
	n := w.crew[round%len(w.crew)]
	keys, err := w.keys(func(p cluster.Place) bool { return p.Primary == n.ID && len(p.Backups) > 0 })
	if err != nil {
		return err
	}
	err = w.note(ctx, "stop", n, keys, pauseQuiet, func() (time.Duration, error) { return pauseQuiet, n.Stop() })
	if err != nil {
		return err
	}
	return w.note(ctx, "back", n, keys, pauseQuiet, func() (time.Duration, error) {
		return pauseQuiet, errors.Join(n.Restart(ctx), w.settled(ctx))
	})
}

// killRound ends a node at once, and watches how its keys get another primary.
func killRound(ctx context.Context, w *pauseWatch, round int) error {
	if err := w.settled(ctx); err != nil {
		return err
	}
	n := w.crew[round%len(w.crew)]
	name := "kill"
	if leader, err := w.leader(); err != nil {
		return err
	} else if leader == n {
		name = "kill, of the leader"
	}
	keys, err := w.keys(func(p cluster.Place) bool { return p.Primary == n.ID && len(p.Backups) > 0 })
	if err != nil {
		return err
	}
	err = w.note(ctx, name, n, keys, pauseQuiet, func() (time.Duration, error) { return failover, n.Kill() })
	if err != nil {
		return err
	}
	return n.Restart(ctx)
}

// leaderRound ends the node that leads the table, and watches keys that it has no part in.
func leaderRound(ctx context.Context, w *pauseWatch, _ int) error {
	if err := w.settled(ctx); err != nil {
		return err
	}
	n, err := w.leader()
	if err != nil {
		return err
	}
	keys, err := w.keys(func(p cluster.Place) bool {
		return p.Primary != n.ID && len(p.Backups) > 0 && !slices.Contains(p.Backups, n.ID)
	})
	if err != nil {
		return err
	}
	err = w.note(ctx, "leader", n, keys, failover, func() (time.Duration, error) { return failover, n.Kill() })
	if err != nil {
		return err
	}
	return n.Restart(ctx)
}
