package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/nodes"
)

type options struct {
	binary   string
	dir      string
	strategy string
	keys     int
	size     int
	nodes    int
	clients  int
	pipeline int
	warm     time.Duration
	verbose  bool
	missed   float64
	serve    string
	profile  string
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "", "ringside to measure; built when empty")
	flag.StringVar(&o.dir, "dir", "", "where the nodes keep their data; a temporary directory when empty")
	flag.StringVar(&o.strategy, "strategy", "buckets", "buckets, ketama or vnode")
	flag.IntVar(&o.keys, "keys", 2_000_000, "keys that the first node holds")
	flag.IntVar(&o.size, "size", 1024, "bytes of a value")
	flag.IntVar(&o.nodes, "nodes", 2, "nodes in the end; they join one after the other")
	flag.IntVar(&o.clients, "clients", 0, "clients that write while the last node joins, or comes back")
	flag.IntVar(&o.pipeline, "pipeline", 1, "requests that a client sends at a time")
	flag.DurationVar(&o.warm, "warm", 8*time.Second, "how long clients write before that")
	flag.BoolVar(&o.verbose, "verbose", false, "show what the nodes log")
	flag.Float64Var(&o.missed, "missed", 0, "percentage of the keys that change while the last node is away, which then comes back; needs backups")
	flag.StringVar(&o.serve, "serve", "", "further flags of ringside serve")
	flag.StringVar(&o.profile, "profile", "", "directory for processor profiles of the nodes over the first 3 s of the last move")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &o); err != nil {
		fmt.Fprintln(os.Stderr, "moving:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o *options) (err error) {
	if o.missed < 0 || o.missed > 100 {
		return fmt.Errorf("%g is not a percentage", o.missed)
	}
	if o.nodes < 2 || o.keys < 1 || o.size < 1 || o.clients < 0 || o.pipeline < 1 {
		return errors.New("at least two nodes, a key, a byte and a request at a time are needed")
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "ringside-moving-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	}
	if o.binary == "" {
		if o.binary, err = nodes.Build(ctx, o.dir); err != nil {
			return err
		}
	}
	var crew []*nodes.Node
	defer func() {
		for _, n := range crew {
			err = errors.Join(err, n.Stop())
		}
	}()
	for i := range o.nodes {
		var load *load
		if i == o.nodes-1 && o.clients > 0 && o.missed == 0 {
			load = startLoad(crew[0].Addr, o)
			defer load.stop()
			if err := wait(ctx, o.warm); err != nil {
				return err
			}
		}
		n, err := start(ctx, o, crew)
		if err != nil {
			return err
		}
		crew = append(crew, n)
		if i == 0 {
			if err := fill(n.Addr, o); err != nil {
				return err
			}
			if err := wait(ctx, 3*time.Second); err != nil { // for compactions
				return err
			}
			continue
		}
		if err := watch(ctx, o, crew, load); err != nil {
			return err
		}
	}
	if o.missed > 0 {
		return resync(ctx, o, crew)
	}
	return nil
}

// start starts one more node.
func start(ctx context.Context, o *options, crew []*nodes.Node) (*nodes.Node, error) {
	id := fmt.Sprint("n", len(crew)+1)
	how := nodes.How{
		Binary: o.binary, ID: id, Dir: filepath.Join(o.dir, id),
		Flags: append([]string{"--strategy", o.strategy}, strings.Fields(o.serve)...),
	}
	if len(crew) > 0 {
		how.Join = crew[0].Gossip
	}
	if o.verbose {
		how.Log = os.Stderr
	}
	return nodes.Start(ctx, how)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
