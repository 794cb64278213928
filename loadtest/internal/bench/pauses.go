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
	nodes
	rounds int
	keys   int
	pause  time.Duration
	fill   int
	only   string

	found map[string]*finding
	order []string // of the names in found
}

func pausesFlags(f *flag.FlagSet) func(context.Context) error {
	o := pausesOptions{nodes: buckets(), found: make(map[string]*finding)}
	o.Flags(f)
	f.IntVar(&o.rounds, "rounds", 10, "rounds of each kind")
	f.IntVar(&o.keys, "keys", 12, "keys that are watched, each by a client of its own")
	f.DurationVar(&o.pause, "pause", 2*time.Millisecond, "how long a client rests between two SETs")
	f.IntVar(&o.fill, "fill", 100_000, "keys that the nodes hold besides")
	f.StringVar(&o.only, "only", "", "kinds of rounds, separated by commas: "+strings.Join(kindNames(), ", ")+"; all when empty")
	return func(ctx context.Context) error {
		if o.rounds < 1 || o.keys < 1 || o.fill < 0 || o.pause < 0 {
			return errors.New("at least a round and a key are needed")
		}
		wanted, err := o.kinds()
		if err != nil {
			return err
		}
		return o.run(ctx, "pauses", crewSize, func() error { return o.measure(ctx, wanted) })
	}
}

const (
	// crewSize is the number of nodes.
	crewSize = 3
	// pauseQuiet is how long is measured before an event, and after it is over.
	pauseQuiet = 2 * time.Second
	// failover is how long keys are watched after a node was killed.
	failover = 8 * time.Second
	// candidates is the number of keys among which those are found that are watched.
	candidates = 2000
)

func (o *pausesOptions) measure(ctx context.Context, wanted []kind) error {
	if err := o.settled(ctx); err != nil {
		return err
	}
	if err := cluster.FillKeys(ctx, []string{o.crew[0].Addr}, o.fill, 100, 4); err != nil {
		return err
	}
	for round := range o.rounds {
		for _, k := range wanted {
			if err := o.round(ctx, k, o.crew[round%len(o.crew)]); err != nil {
				return fmt.Errorf("round %d of %s: %w", round+1, k.name, err)
			}
		}
	}
	o.report()
	return nil
}

// A kind is what happens in a round.
type kind struct {
	name string
	// leader makes the node that leads the table the victim in each round. Otherwise the nodes take turns.
	leader bool
	// watched reports whether a key is one of those to watch.
	watched func(p cluster.Place, victim string) bool
	end     func(*cluster.Process) error
	before  time.Duration // how long keys are watched before the end
	after   time.Duration // and after it
	// back also watches how the node gets its share again.
	back bool
}

var kinds = []kind{
	{name: "stop", watched: isPrimary, end: (*cluster.Process).Stop, before: pauseQuiet, after: pauseQuiet, back: true},
	{name: "kill", watched: isPrimary, end: (*cluster.Process).Kill, before: pauseQuiet, after: failover},
	{name: "leader", leader: true, watched: hasNoPart, end: (*cluster.Process).Kill, before: failover, after: failover},
}

func isPrimary(p cluster.Place, victim string) bool { return p.Primary == victim && len(p.Backups) > 0 }

func hasNoPart(p cluster.Place, victim string) bool {
	return p.Primary != victim && len(p.Backups) > 0 && !slices.Contains(p.Backups, victim)
}

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
