package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
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
	flag.IntVar(&o.clients, "clients", 0, "clients that write while the last node joins")
	flag.IntVar(&o.pipeline, "pipeline", 1, "requests that a client sends at a time")
	flag.DurationVar(&o.warm, "warm", 8*time.Second, "how long clients write before the last node joins")
	flag.BoolVar(&o.verbose, "verbose", false, "show what the nodes log")
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
		if o.binary, err = build(ctx, o.dir); err != nil {
			return err
		}
	}
	var nodes []*node
	defer func() {
		for _, n := range nodes {
			err = errors.Join(err, n.stop())
		}
	}()
	for i := range o.nodes {
		var load *load
		if i == o.nodes-1 && o.clients > 0 {
			load = startLoad(nodes[0].addr, o)
			defer load.stop()
			if err := wait(ctx, o.warm); err != nil {
				return err
			}
		}
		n, err := startNode(ctx, o, i, nodes)
		if err != nil {
			return err
		}
		nodes = append(nodes, n)
		if i == 0 {
			if err := fill(n.addr, o); err != nil {
				return err
			}
			if err := wait(ctx, 3*time.Second); err != nil { // for compactions
				return err
			}
			continue
		}
		if err := watch(ctx, o, nodes, load); err != nil {
			return err
		}
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
