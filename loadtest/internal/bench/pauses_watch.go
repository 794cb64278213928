package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// A finding is the pauses of one event, and those of as much time without an event.
type finding struct {
	pauses, before latencies
	failed         int   // rounds in which requests of clients failed
	lapses         int64 // leases of the other nodes that ended meanwhile
	last           error
}

// round ends one node, watches keys meanwhile, and restarts the node.
func (o *pausesOptions) round(ctx context.Context, k kind, victim *cluster.Process) error {
	if err := o.settled(ctx); err != nil {
		return err
	}
	leader, err := o.leader(ctx)
	if err != nil {
		return err
	}
	name := k.name
	if k.leader {
		victim = leader
	} else if k.name == "kill" && victim == leader {
		name = "kill, of the leader"
	}
	keys, err := o.watchedKeys(func(p cluster.Place) bool { return k.watched(p, victim.ID) })
	if err != nil {
		return err
	}
	err = o.note(ctx, name, victim, keys, k.before, k.after, func() error { return k.end(victim) })
	if err != nil {
		return err
	}
	if !k.back {
		return victim.Restart(ctx)
	}
	return o.note(ctx, "back", victim, keys, pauseQuiet, pauseQuiet, func() error {
		return errors.Join(victim.Restart(ctx), o.settled(ctx))
	})
}

// settled waits until nothing moves, for a while, and all have a vote.
func (o *pausesOptions) settled(ctx context.Context) error {
	for since := time.Now(); time.Since(since) < pauseQuiet; {
		began := time.Now()
		if err := cluster.WaitBalanced(ctx, o.crew); err != nil {
			return err
		}
		if time.Since(began) > time.Second {
			since = time.Now()
		}
		if err := cluster.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// watchedKeys returns keys whose places are as they should be, each of another range.
func (o *pausesOptions) watchedKeys(as func(p cluster.Place) bool) (keys []string, err error) {
	all, places, err := o.locate("watched", 0, candidates)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, p := range places {
		if as(p) && !seen[p.Range] && len(keys) < o.keys {
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
func (o *pausesOptions) but(n *cluster.Process) []*cluster.Process {
	return slices.DeleteFunc(slices.Clone(o.crew), func(other *cluster.Process) bool { return other == n })
}

// leader is the node that leads the table.
func (o *pausesOptions) leader(ctx context.Context) (*cluster.Process, error) {
	info, err := o.ask(ctx, "RING", "INFO")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(o.crew, func(n *cluster.Process) bool { return strings.Contains(info, "\nleader:"+n.ID+"\r\n") })
	if i < 0 {
		return nil, errors.New("no node is the leader")
	}
	return o.crew[i], nil
}

// note measures the pauses of keys, by requests to all nodes but one: first for a while in which nothing
// happens, then from the beginning of an event on, until some time after its end.
func (o *pausesOptions) note(ctx context.Context, name string, n *cluster.Process, keys []string, still, after time.Duration, event func() error) error {
	l := &load{nodes: o.but(n), clients: len(keys), pipeline: 1, size: 5, rest: o.pause, insist: true,
		key: func(client int, _ *rand.Rand) []byte { return []byte(keys[client]) }}
	l.start()
	defer l.stop()
	if err := cluster.Sleep(ctx, 300*time.Millisecond); err != nil { // for their connections
		return err
	}
	from := time.Now()
	if err := cluster.Sleep(ctx, still); err != nil {
		return err
	}
	lapsed, err := sum(o.but(n), "lease_lapses")
	if err != nil {
		return err
	}
	at := time.Now()
	if err := event(); err != nil {
		return err
	}
	if err := cluster.Sleep(ctx, after); err != nil {
		return err
	}
	to := time.Now()
	_ = l.stop() // the clients have repeated what failed
	since, err := sum(o.but(n), "lease_lapses")
	if err != nil {
		return err
	}
	f := o.found[name]
	if f == nil {
		f = new(finding)
		o.found[name], o.order = f, append(o.order, name)
	}
	f.lapses += since - lapsed
	var before, pauses latencies
	for i := range keys {
		before = append(before, l.longest(i, func(s span) bool { return s.began.After(from) && s.ended.Before(at) }))
		pauses = append(pauses, l.longest(i, func(s span) bool { return s.overlaps(at, to) }))
	}
	f.before = append(f.before, before...)
	f.pauses = append(f.pauses, pauses...)
	if failed := cmp.Or(l.failed...); failed != nil {
		f.failed++
		f.last = failed
	}
	if o.Verbose {
		fmt.Printf("%-22s %s: %v, and when nothing happens %v\n", name, n.ID, pauses, before)
	}
	return nil
}

func (o *pausesOptions) report() {
	fmt.Printf("pauses of keys, in ms\n%-22s %6s %9s %9s %9s %9s\n", "", "number", "least", "median", "p99", "most")
	for _, name := range o.order {
		f := o.found[name]
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
