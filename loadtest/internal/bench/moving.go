package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

type movingOptions struct {
	cluster.ProcessOptions
	keys     int
	size     int
	nodes    int
	fillers  int
	clients  int
	pipeline int
	warm     time.Duration
	missed   float64
}

func movingFlags(f *flag.FlagSet) func(context.Context) error {
	o := movingOptions{ProcessOptions: cluster.ProcessOptions{Strategy: "buckets"}}
	o.Flags(f)
	o.ProfileFlag(f, "over the first 3 s of the last move")
	f.IntVar(&o.keys, "keys", 2_000_000, "keys that the first node holds")
	f.IntVar(&o.size, "size", 1024, "bytes of a value")
	f.IntVar(&o.nodes, "nodes", 2, "nodes in the end; they join one after the other")
	f.IntVar(&o.fillers, "fillers", 8, "connections that write the keys at first")
	f.IntVar(&o.clients, "clients", 0, "clients that write while the last node joins, or comes back")
	f.IntVar(&o.pipeline, "pipeline", 1, "requests that a client sends at a time")
	f.DurationVar(&o.warm, "warm", 8*time.Second, "how long clients write before that")
	f.Float64Var(&o.missed, "missed", 0, "percentage of the keys that change while the last node is away, which then comes back; needs backups")
	return func(ctx context.Context) error { return runMoving(ctx, &o) }
}

func runMoving(ctx context.Context, o *movingOptions) (err error) {
	if o.missed < 0 || o.missed > 100 {
		return fmt.Errorf("%g is not a percentage", o.missed)
	}
	if o.nodes < 2 || o.keys < 1 || o.size < 1 || o.fillers < 1 || o.clients < 0 || o.pipeline < 1 {
		return errors.New("at least two nodes, a key, a byte and a request at a time are needed")
	}
	tidy, err := o.Prepare(ctx, "moving")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tidy()) }()
	var crew []*cluster.Process
	defer func() { err = errors.Join(err, cluster.StopProcesses(crew)) }()
	for i := range o.nodes {
		var load *moveLoad
		if i == o.nodes-1 && o.clients > 0 && o.missed == 0 {
			load = startMoveLoad(crew[0].Addr, o)
			defer load.stop()
			if err := wait(ctx, o.warm); err != nil {
				return err
			}
		}
		n, err := o.Start(ctx, fmt.Sprint("n", i+1), crew)
		if err != nil {
			return err
		}
		crew = append(crew, n)
		if i == 0 {
			began := time.Now()
			if err := cluster.FillKeys(ctx, []string{n.Addr}, o.keys, o.size, o.fillers); err != nil {
				return err
			}
			fmt.Printf("%d keys with values of %d bytes were written in %v\n", o.keys, o.size, time.Since(began).Round(time.Millisecond))
			if err := wait(ctx, 3*time.Second); err != nil { // for compactions
				return err
			}
			continue
		}
		if err := watchMove(ctx, o, crew, load); err != nil {
			return err
		}
	}
	if o.missed > 0 {
		return resync(ctx, o, crew)
	}
	return nil
}
