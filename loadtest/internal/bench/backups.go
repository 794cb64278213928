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
	nodes
	rounds   int
	duration time.Duration
	clients  int
	pipeline int
	size     int
	keys     int

	own, others []string              // keys of the first node, and of the second
	found       map[string][]measured // by step
}

func backupsFlags(f *flag.FlagSet) func(context.Context) error {
	o := backupsOptions{nodes: buckets(), found: make(map[string][]measured)}
	o.Flags(f)
	o.ProfileFlag(f, "ID-COPIES.pprof")
	f.IntVar(&o.rounds, "rounds", 5, "how often each is measured")
	f.DurationVar(&o.duration, "duration", 5*time.Second, "how long a measurement takes")
	f.IntVar(&o.clients, "clients", 50, "clients that write at the same time")
	f.IntVar(&o.pipeline, "pipeline", 16, "requests that each of them sends at a time")
	f.IntVar(&o.size, "size", 64, "bytes of a value")
	f.IntVar(&o.keys, "keys", 100_000, "keys that are written")
	return func(ctx context.Context) error {
		if o.rounds < 1 || o.clients < 1 || o.pipeline < 1 || o.size < 1 || o.keys < 1 || o.duration <= 0 {
			return errors.New("at least a round, a client, a request, a byte, a key and some time are needed")
		}
		if o.Strategy != "buckets" {
			return errors.New("both nodes must have the same share, which only buckets sees to")
		}
		return o.run(ctx, "backups", 2, func() error { return o.measureAll(ctx) })
	}
}

// measured is the result of one measurement.
type measured struct {
	rate  float64 // requests a second
	p50   time.Duration
	spent [3]time.Duration // processor time of the node, of the other one or the floor, and of the clients, for a request
}

// sharedRanges is how many ranges each of two nodes serves.
const sharedRanges = 128

// measureAll measures the first of two nodes with the same share each.
func (o *backupsOptions) measureAll(ctx context.Context) error {
	if err := o.until(ctx, "has its share", func(info map[string]int64) bool { return info["primaries"] == sharedRanges }); err != nil {
		return err
	}
	for i := 0; min(len(o.own), len(o.others)) < o.keys; i += 1000 {
		keys, places, err := o.locate("key", i, i+1000)
		if err != nil {
			return err
		}
		for j, place := range places {
			if place.Primary == o.crew[0].ID {
				o.own = append(o.own, keys[j])
			} else {
				o.others = append(o.others, keys[j])
			}
		}
	}
	o.own, o.others = o.own[:o.keys], o.others[:o.keys]
	fmt.Printf("%-7s %15s %11s %11s %14s %14s\n", "backups", fmt.Sprintf("SET/s, %d x %d", o.clients, o.pipeline), "p50",
		"p50, 1 x 1", "primary/SET", "other/SET")
	many := step{"many", o.crew[0], o.own, o.clients, o.pipeline}
	if _, err := o.measure(ctx, many, 0); err != nil { // so that every turn overwrites
		return err
	}
	for round := range 2 * o.rounds {
		if err := o.turn(ctx, many, round%2); err != nil {
			return err
		}
	}
	o.print()
	return ctx.Err()
}

// A step is one measurement: clients of a node SET keys, or PING without keys.
type step struct {
	name              string
	node              *cluster.Process
	keys              []string
	clients, pipeline int
}

// turn measures all steps with so many backups.
func (o *backupsOptions) turn(ctx context.Context, many step, copies int) error {
	if err := o.setBackups(ctx, copies); err != nil {
		return err
	}
	steps := []step{many, {"one", o.crew[0], o.own, 1, 1}, {"trip", o.crew[1], nil, 1, 1}}
	if copies == 0 {
		bare := many
		bare.name = bareStep
		steps = append(steps, bare, step{"forwarded", o.crew[0], o.others, 1, 1})
	}
	last := make(map[string]measured)
	for _, s := range steps {
		m, err := o.measure(ctx, s, copies)
		if err != nil {
			return err
		}
		last[s.name] = m
		name := s.name + strconv.Itoa(copies)
		o.found[name] = append(o.found[name], m)
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
func (o *backupsOptions) setBackups(ctx context.Context, copies int) error {
	if _, err := o.ask(ctx, "RING", "BACKUPS", strconv.Itoa(copies)); err != nil {
		return err
	}
	err := o.until(ctx, "has its backups", func(info map[string]int64) bool {
		return info["primaries"] == sharedRanges && info["backups"] == int64(sharedRanges*copies)
	})
	if err != nil {
		return err
	}
	return cluster.Sleep(ctx, time.Second) // for what that has left to do
}

func (o *backupsOptions) measure(ctx context.Context, s step, copies int) (m measured, err error) {
	l := &load{nodes: []*cluster.Process{s.node}, clients: s.clients, pipeline: s.pipeline, size: o.size}
	if len(s.keys) > 0 {
		l.key = func(_ int, rnd *rand.Rand) []byte { return []byte(s.keys[rnd.IntN(len(s.keys))]) }
	}
	other := o.crew[1].PID()
	if s.name == bareStep {
		var f *floor
		if f, err = startFloor(o.Dir, o.keys, o.size); err != nil {
			return m, err
		}
		defer func() { err = errors.Join(err, f.stop()) }()
		l.sent, other = f.add, f.cmd.Process.Pid
	}
	if s.name == "many" {
		profiled := o.startProfiles("-"+strconv.Itoa(copies), max(1, int(o.duration.Seconds())-1))
		defer func() { err = errors.Join(err, profiled()) }()
	}
	pids := []int{o.crew[0].PID(), other, os.Getpid()}
	var used [3]time.Duration
	for i, pid := range pids {
		used[i] = cluster.ProcessCPU(pid)
	}
	l.start()
	waited := cluster.Sleep(ctx, o.duration)
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
func (o *backupsOptions) print() {
	without, with := median(o.found["many0"], rate), median(o.found["many1"], rate)
	fmt.Println(strings.Repeat("-", 77))
	fmt.Printf("medians: %.0f SET/s without a backup, %.0f with one: it costs %.0f %%\n", without, with, 100-100*with/without)
	least := median(o.found["bare0"], rate)
	fmt.Printf("%.0f SET/s without one beside a bare Pebble that takes the same writes: that costs %.0f %%\n", least, 100-100*least/without)
	alone, both := median(o.found["one0"], p50), median(o.found["one1"], p50)
	fmt.Printf("p50 of one client: %v without, %v with: it adds %v\n", alone, both, both-alone)
	far := median(o.found["forwarded0"], p50)
	fmt.Printf("p50 of one client whose node forwards its SETs to the other: %v: the round trip adds %v\n", far, far-alone)
	trips := slices.Concat(o.found["trip0"], o.found["trip1"])
	fmt.Printf("p50 of a round trip to the other node, which does nothing: %v\n", median(trips, p50))
	for i, name := range []string{"their node", "the other node", "the clients"} {
		spent := func(m measured) time.Duration { return m.spent[i] }
		fmt.Printf("processor time of %s for a SET: %v without a backup, %v with\n",
			name, median(o.found["many0"], spent), median(o.found["many1"], spent))
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
