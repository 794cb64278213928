package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
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
	pair, err := startPair(ctx, o)
	defer func() { err = errors.Join(err, pair.stop()) }()
	if err != nil {
		return err
	}
	keys, err := pair.keys(pair.first, o.keys)
	if err != nil {
		return err
	}
	others, err := pair.keys(pair.second, o.keys)
	if err != nil {
		return err
	}
	var many, one [2][]measured
	var floors []measured
	var trips, forwarded []measured
	fmt.Printf("%-7s %15s %11s %11s %14s %14s\n", "backups", fmt.Sprintf("SET/s, %d x %d", o.clients, o.pipeline), "p50",
		"p50, 1 x 1", "primary/SET", "other/SET")
	for round := range 2 * o.rounds {
		copies := round % 2
		if err := pair.backups(ctx, copies); err != nil {
			return err
		}
		if round == 0 { // so that every turn overwrites
			if _, err := measureLoad(ctx, o, pair.first.Addr, keys, o.clients, o.pipeline); err != nil {
				return err
			}
		}
		m, err := pair.measure(ctx, o, keys, copies)
		if err != nil {
			return err
		}
		many[copies] = append(many[copies], m)
		s, err := measureLoad(ctx, o, pair.first.Addr, keys, 1, 1)
		if err != nil {
			return err
		}
		trip, err := measureLoad(ctx, o, pair.second.Addr, nil, 1, 1)
		if err != nil {
			return err
		}
		trips = append(trips, trip)
		one[copies] = append(one[copies], s)
		printTurn(strconv.Itoa(copies), &m, s.p50.String())
		if copies == 0 {
			if m, err = pair.measureFloor(ctx, o, keys); err != nil {
				return err
			}
			if s, err = measureLoad(ctx, o, pair.first.Addr, others, 1, 1); err != nil {
				return err
			}
			floors, forwarded = append(floors, m), append(forwarded, s)
			printTurn("bare", &m, "")
		}
	}
	printBackups(&many, &one, floors, forwarded, trips)
	return ctx.Err()
}

func printTurn(what string, m *measured, alone string) {
	fmt.Printf("%-7s %15.0f %11v %11s %14v %14v\n", what, m.rate, m.p50.Round(10*time.Microsecond), alone, m.spent[0], m.spent[1])
}

// printBackups prints the medians and what one backup costs.
func printBackups(many, one *[2][]measured, floors, forwarded, trips []measured) {
	without, with := median(many[0], rate), median(many[1], rate)
	fmt.Println(strings.Repeat("-", 77))
	fmt.Printf("medians: %.0f SET/s without a backup, %.0f with one: it costs %.0f %%\n", without, with, 100-100*with/without)
	least := median(floors, rate)
	fmt.Printf("%.0f SET/s without one beside a bare Pebble that takes the same writes: that costs %.0f %%\n", least, 100-100*least/without)
	alone, both := median(one[0], p50), median(one[1], p50)
	fmt.Printf("p50 of one client: %v without, %v with: it adds %v\n", alone, both, both-alone)
	far := median(forwarded, p50)
	fmt.Printf("p50 of one client whose node forwards its SETs to the other: %v: the round trip adds %v\n", far, far-alone)
	fmt.Printf("p50 of a round trip to the other node, which does nothing: %v\n", median(trips, p50))
	for i, name := range []string{"their node", "the other node", "the clients"} {
		fmt.Printf("processor time of %s for a SET: %v without a backup, %v with\n",
			name, median(many[0], spent(i)), median(many[1], spent(i)))
	}
}

func rate(m measured) float64      { return m.rate }
func p50(m measured) time.Duration { return m.p50 }

func spent(node int) func(measured) time.Duration {
	return func(m measured) time.Duration { return m.spent[node] }
}

func median[T cmp.Ordered](ms []measured, of func(measured) T) T {
	values := make([]T, len(ms))
	for i, m := range ms {
		values[i] = of(m)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
