package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

type backupsOptions struct {
	cluster.ProcessOptions
	rounds   int
	duration time.Duration
	clients  int
	pipeline int
	size     int
	keys     int
}

func backupsFlags(f *flag.FlagSet) func(context.Context) error {
	o := backupsOptions{ProcessOptions: cluster.ProcessOptions{Strategy: "buckets"}}
	o.Flags(f)
	o.ProfileFlag(f, "ID-COPIES.pprof")
	f.IntVar(&o.rounds, "rounds", 5, "how often each is measured")
	f.DurationVar(&o.duration, "duration", 5*time.Second, "how long a measurement takes")
	f.IntVar(&o.clients, "clients", 50, "clients that write at the same time")
	f.IntVar(&o.pipeline, "pipeline", 16, "requests that each of them sends at a time")
	f.IntVar(&o.size, "size", 64, "bytes of a value")
	f.IntVar(&o.keys, "keys", 100_000, "keys that are written")
	return func(ctx context.Context) error { return runBackups(ctx, &o) }
}

// A backupsRun measures two nodes with the same share each.
type backupsRun struct {
	*backupsOptions
	crew        []*cluster.Process
	own, others []string // keys of the first node, and of the second
	found       map[string][]measured
}

// measured is the result of one measurement.
type measured struct {
	rate  float64 // requests a second
	p50   time.Duration
	spent [3]time.Duration // processor time of the node, of the other one or the floor, and of the clients, for a request
}

// sharedRanges is how many ranges each of two nodes serves.
const sharedRanges = 128

func runBackups(ctx context.Context, o *backupsOptions) (err error) {
	if o.rounds < 1 || o.clients < 1 || o.pipeline < 1 || o.size < 1 || o.keys < 1 || o.duration <= 0 {
		return errors.New("at least a round, a client, a request, a byte, a key and some time are needed")
	}
	if o.Strategy != "buckets" {
		return errors.New("both nodes must have the same share, which only buckets sees to")
	}
	tidy, err := o.Prepare(ctx, "backups")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tidy()) }()
	r := &backupsRun{backupsOptions: o, found: make(map[string][]measured)}
	r.crew, err = o.StartAll(ctx, 2)
	defer func() { err = errors.Join(err, cluster.StopProcesses(r.crew)) }()
	if err != nil {
		return err
	}
	err = r.crew[1].Until(ctx, "has its share", func(info map[string]int64) bool { return info["primaries"] == sharedRanges })
	if err != nil {
		return err
	}
	if err := r.locateKeys(); err != nil {
		return err
	}
	fmt.Printf("%-7s %15s %11s %11s %14s %14s\n", "backups", fmt.Sprintf("SET/s, %d x %d", o.clients, o.pipeline), "p50",
		"p50, 1 x 1", "primary/SET", "other/SET")
	for round := range 2 * o.rounds {
		if err := r.turn(ctx, round%2, round == 0); err != nil {
			return err
		}
	}
	r.print()
	return ctx.Err()
}

// locateKeys finds keys that each node serves.
func (r *backupsRun) locateKeys() error {
	c, err := cluster.Dial(r.crew[0].Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for i := 0; min(len(r.own), len(r.others)) < r.keys; {
		var some []string
		for range 1000 {
			some = append(some, fmt.Sprintf("key:%08d", i))
			i++
		}
		places, err := c.Locate(some)
		if err != nil {
			return err
		}
		for j, place := range places {
			if place.Primary == r.crew[0].ID {
				r.own = append(r.own, some[j])
			} else {
				r.others = append(r.others, some[j])
			}
		}
	}
	r.own, r.others = r.own[:r.keys], r.others[:r.keys]
	return nil
}

// A step is one measurement: clients of a node SET keys, or PING without keys.
type step struct {
	name              string
	node              *cluster.Process
	keys              []string
	clients, pipeline int
}

// turn measures all steps with so many backups. In the first turn the keys are written before, so that
// every step overwrites.
func (r *backupsRun) turn(ctx context.Context, copies int, first bool) error {
	if err := r.setBackups(ctx, copies); err != nil {
		return err
	}
	many := step{"many", r.crew[0], r.own, r.clients, r.pipeline}
	steps := []step{many, {"one", r.crew[0], r.own, 1, 1}, {"trip", r.crew[1], nil, 1, 1}}
	if copies == 0 {
		bare := many
		bare.name = bareStep
		steps = append(steps, bare, step{"forwarded", r.crew[0], r.others, 1, 1})
	}
	if first {
		steps = slices.Insert(steps, 0, step{"fill", many.node, many.keys, many.clients, many.pipeline})
	}
	last := make(map[string]measured)
	for _, s := range steps {
		m, err := r.measure(ctx, s, copies)
		if err != nil {
			return err
		}
		last[s.name] = m
		name := s.name + strconv.Itoa(copies)
		r.found[name] = append(r.found[name], m)
	}
	printTurn(strconv.Itoa(copies), last["many"], last["one"].p50.String())
	if copies == 0 {
		printTurn("bare", last[bareStep], "")
	}
	return nil
}

// bareStep is measured with a floor beside the node.
const bareStep = "bare"

// setBackups changes the number of copies and waits until they are there.
func (r *backupsRun) setBackups(ctx context.Context, copies int) error {
	c, err := cluster.Dial(r.crew[0].Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Do("RING", "BACKUPS", strconv.Itoa(copies)); err != nil {
		return err
	}
	for _, n := range r.crew {
		err := n.Until(ctx, "has its backups", func(info map[string]int64) bool {
			return info["primaries"] == sharedRanges && info["backups"] == int64(sharedRanges*copies)
		})
		if err != nil {
			return err
		}
	}
	return wait(ctx, time.Second) // for what that has left to do
}

func (r *backupsRun) measure(ctx context.Context, s step, copies int) (m measured, err error) {
	l := &load{addr: s.node.Addr, clients: s.clients, pipeline: s.pipeline, size: r.size}
	if len(s.keys) > 0 {
		l.key = func(rnd *rand.Rand) []byte { return []byte(s.keys[rnd.IntN(len(s.keys))]) }
	}
	other := r.crew[1].PID()
	if s.name == bareStep {
		f, err := startFloor(r.Dir, r.keys, r.size)
		if err != nil {
			return m, err
		}
		defer func() { err = errors.Join(err, f.stop()) }()
		l.sent, other = f.add, f.cmd.Process.Pid
	}
	if s.name == "many" && r.Profile != "" {
		profiled := startProfiles(&r.ProcessOptions, r.crew, "-"+strconv.Itoa(copies), max(1, int(r.duration.Seconds())-1))
		defer func() { err = errors.Join(err, <-profiled) }()
	}
	pids := []int{r.crew[0].PID(), other, os.Getpid()}
	var used [3]time.Duration
	for i, pid := range pids {
		used[i] = cluster.ProcessCPU(pid)
	}
	l.start()
	waited := wait(ctx, r.duration)
	if err := errors.Join(l.stop(), waited); err != nil {
		return m, err
	}
	rate, took := l.between(l.began, time.Now())
	if len(took) == 0 {
		return m, errors.New("nothing was answered in time")
	}
	for i, pid := range pids {
		spent := (cluster.ProcessCPU(pid) - used[i]) / time.Duration(len(took)*s.pipeline)
		m.spent[i] = spent.Round(10 * time.Nanosecond)
	}
	m.rate, m.p50 = rate, took.quantile(0.5).Round(time.Microsecond)
	return m, nil
}

func printTurn(what string, m measured, alone string) {
	fmt.Printf("%-7s %15.0f %11v %11s %14v %14v\n", what, m.rate, m.p50.Round(10*time.Microsecond), alone, m.spent[0], m.spent[1])
}

// print prints the medians and what one backup costs.
func (r *backupsRun) print() {
	without, with := median(r.found["many0"], rate), median(r.found["many1"], rate)
	fmt.Println(strings.Repeat("-", 77))
	fmt.Printf("medians: %.0f SET/s without a backup, %.0f with one: it costs %.0f %%\n", without, with, 100-100*with/without)
	least := median(r.found["bare0"], rate)
	fmt.Printf("%.0f SET/s without one beside a bare Pebble that takes the same writes: that costs %.0f %%\n", least, 100-100*least/without)
	alone, both := median(r.found["one0"], p50), median(r.found["one1"], p50)
	fmt.Printf("p50 of one client: %v without, %v with: it adds %v\n", alone, both, both-alone)
	far := median(r.found["forwarded0"], p50)
	fmt.Printf("p50 of one client whose node forwards its SETs to the other: %v: the round trip adds %v\n", far, far-alone)
	trips := slices.Concat(r.found["trip0"], r.found["trip1"])
	fmt.Printf("p50 of a round trip to the other node, which does nothing: %v\n", median(trips, p50))
	for i, name := range []string{"their node", "the other node", "the clients"} {
		spent := func(m measured) time.Duration { return m.spent[i] }
		fmt.Printf("processor time of %s for a SET: %v without a backup, %v with\n",
			name, median(r.found["many0"], spent), median(r.found["many1"], spent))
	}
}

func rate(m measured) float64      { return m.rate }
func p50(m measured) time.Duration { return m.p50 }

func median[T cmp.Ordered](ms []measured, of func(measured) T) T {
	values := make([]T, len(ms))
	for i, m := range ms {
		values[i] = of(m)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
