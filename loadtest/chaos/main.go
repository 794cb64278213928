package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

type options struct {
	binary   string
	dir      string
	strategy string
	serve    string
	nodes    int
	clients  int
	duration time.Duration
	round    time.Duration
	bound    time.Duration
	seed     uint64
	faults   string
	copies   int
	verbose  bool
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "", "ringside to run; built when empty")
	flag.StringVar(&o.dir, "dir", "", "where the nodes keep their data and logs; a temporary directory when empty")
	flag.StringVar(&o.strategy, "strategy", "", "buckets, ketama or vnode; one at random when empty")
	flag.StringVar(&o.serve, "serve", "", "further flags of ringside serve")
	flag.IntVar(&o.nodes, "nodes", 3, "nodes, of which others may join and leave")
	flag.IntVar(&o.clients, "clients", 12, "clients that ask at random")
	flag.DurationVar(&o.duration, "duration", 10*time.Minute, "how long rounds are begun")
	flag.DurationVar(&o.round, "round", 30*time.Second, "how long faults happen in a round, on average")
	flag.DurationVar(&o.bound, "bound", time.Minute, "how soon after the faults everything has to be served and in sync")
	flag.Uint64Var(&o.seed, "seed", 0, "what faults and commands follow from; a random one when 0")
	flag.StringVar(&o.faults, "faults", "", "the kinds of faults, separated by commas; all that this machine allows when empty")
	flag.IntVar(&o.copies, "copies", 2, "copies of each key that are awaited after the faults")
	flag.BoolVar(&o.verbose, "verbose", false, "tell of every fault")
	flag.Parse()
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	isolated, why, err := isolate()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
	if !isolated {
		fmt.Printf("faults of network and disks are left out: %s\n", why)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = run(ctx, &o, isolated)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o *options, isolated bool) (err error) {
	if o.nodes < 1 || o.nodes > 20 || o.clients < 1 || o.round <= 0 || o.bound <= 0 {
		return errors.New("1 to 20 nodes, at least a client, and times above 0 are needed")
	}
	kinds, err := kindsOf(o.faults, isolated)
	if err != nil {
		return err
	}
	made := o.dir == ""
	if made {
		if o.dir, err = os.MkdirTemp("", "ringside-chaos-"); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	if o.binary == "" {
		if o.binary, err = build(ctx, o.dir); err != nil {
			return err
		}
	}
	rnd := rand.New(rand.NewPCG(o.seed, 1))
	if o.strategy == "" {
		o.strategy = []string{"buckets", "ketama", "vnode"}[rnd.IntN(3)]
	}
	fmt.Printf("seed %d, %d nodes, %s, %d clients, faults: %s\n", o.seed, o.nodes, o.strategy, o.clients, strings.Join(kinds, ", "))
	c := &cluster{o: o, rnd: rnd, isolated: isolated, began: time.Now(), counts: map[string]int{}}
	defer func() {
		c.stopAll()
		switch {
		case err != nil:
			fmt.Println("data and logs are kept in", o.dir)
		case made:
			err = os.RemoveAll(o.dir)
		}
	}()
	if isolated {
		if err := c.prepare(); err != nil {
			return err
		}
	}
	for range o.nodes {
		if _, err := c.join(ctx); err != nil {
			return err
		}
	}
	if _, err := c.settle(ctx, 2*o.bound); err != nil {
		return err
	}
	total := newTotal()
	for number := 1; time.Since(c.began) < o.duration && ctx.Err() == nil; number++ {
		result, err := c.round(ctx, number, kinds, total)
		total.add(result)
		if err != nil {
			total.print(c)
			return fmt.Errorf("round %d, seed %d: %w", number, o.seed, err)
		}
	}
	total.print(c)
	return nil
}
