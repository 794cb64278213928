package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

type pausesOptions struct {
	cluster.ProcessOptions
	rounds int
	keys   int
	pause  time.Duration
	fill   int
	only   string
}

func pausesFlags(f *flag.FlagSet) func(context.Context) error {
	o := pausesOptions{ProcessOptions: cluster.ProcessOptions{Strategy: "buckets"}}
	o.Flags(f)
	f.IntVar(&o.rounds, "rounds", 10, "rounds of each kind")
	f.IntVar(&o.keys, "keys", 12, "keys that are watched, each by a client of its own")
	f.DurationVar(&o.pause, "pause", 2*time.Millisecond, "how long a client rests between two SETs")
	f.IntVar(&o.fill, "fill", 100_000, "keys that the nodes hold besides")
	f.StringVar(&o.only, "only", "", "kinds of rounds, separated by commas: "+strings.Join(kindNames(), ", ")+"; all when empty")
	return func(ctx context.Context) error { return runPauses(ctx, &o) }
}

// crewSize is how many nodes there are.
const crewSize = 3

func runPauses(ctx context.Context, o *pausesOptions) (err error) {
	if o.rounds < 1 || o.keys < 1 || o.fill < 0 || o.pause < 0 {
		return errors.New("at least a round and a key are needed")
	}
	wanted, err := o.kinds()
	if err != nil {
		return err
	}
	tidy, err := o.Prepare(ctx, "pauses")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tidy()) }()
	crew, err := o.StartAll(ctx, crewSize)
	defer func() { err = errors.Join(err, cluster.StopProcesses(crew)) }()
	if err != nil {
		return err
	}
	w := &pauseWatch{o: o, crew: crew, found: map[string]*finding{}}
	if err := w.settled(ctx); err != nil {
		return err
	}
	if err := cluster.FillKeys(ctx, []string{crew[0].Addr}, o.fill, 100, 4); err != nil {
		return err
	}
	for round := range o.rounds {
		for _, k := range wanted {
			if err := k.round(ctx, w, round); err != nil {
				return fmt.Errorf("round %d of %s: %w", round+1, k.name, err)
			}
		}
	}
	w.report()
	return nil
}

// A kind is what happens in a round.
type kind struct {
	name  string
	round func(ctx context.Context, w *pauseWatch, round int) error
}

var kinds = []kind{{"stop", stopRound}, {"kill", killRound}, {"leader", leaderRound}}

func kindNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

func (o *pausesOptions) kinds() ([]kind, error) {
	if o.only == "" {
		return kinds, nil
	}
	var wanted []kind
	for name := range strings.SplitSeq(o.only, ",") {
		i := slices.Index(kindNames(), strings.TrimSpace(name))
		if i < 0 {
			return nil, fmt.Errorf("there are no rounds of %q, but of %s", name, strings.Join(kindNames(), ", "))
		}
		wanted = append(wanted, kinds[i])
	}
	return wanted, nil
}
