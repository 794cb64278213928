package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// nodes are those that a command measures.
type nodes struct {
	cluster.ProcessOptions
	crew []*cluster.Process
}

// buckets are nodes whose strategy is buckets, unless a flag says otherwise.
func buckets() nodes { return nodes{ProcessOptions: cluster.ProcessOptions{Strategy: "buckets"}} }

// run starts count nodes, calls measure, which may start more, and stops them all.
func (n *nodes) run(ctx context.Context, command string, count int, measure func() error) (err error) {
	tidy, err := n.Prepare(ctx, command)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.StopProcesses(n.crew), tidy()) }()
	if n.crew, err = n.StartAll(ctx, count); err != nil {
		return err
	}
	return measure()
}

// until waits until the figures of RING INFO of all nodes are as they should be.
func (n *nodes) until(ctx context.Context, what string, holds func(info map[string]int64) bool) error {
	for _, one := range n.crew {
		if err := one.Until(ctx, what, holds); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a command to the first node.
func (n *nodes) ask(ctx context.Context, words ...string) (string, error) {
	return cluster.Ask(ctx, n.crew[0].Addr, words...)
}

// locate returns keys with a prefix and their places.
func (n *nodes) locate(prefix string, from, to int) (keys []string, places []cluster.Place, err error) {
	c, err := cluster.Dial(n.crew[0].Addr)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	for i := from; i < to; i++ {
		keys = append(keys, fmt.Sprintf("%s:%08d", prefix, i))
	}
	places, err = c.Locate(keys)
	return keys, places, err
}

// startProfiles makes the nodes write profiles to files that are named after them, if profiles are
// wanted. The returned function waits for that.
func (n *nodes) startProfiles(suffix string, seconds int) (wait func() error) {
	if n.Profile == "" {
		return func() error { return nil }
	}
	var all sync.WaitGroup
	faults := make([]error, len(n.crew))
	for i, one := range n.crew {
		all.Go(func() { faults[i] = one.Profile(filepath.Join(n.Profile, one.ID+suffix+".pprof"), seconds) })
	}
	return func() error {
		all.Wait()
		return errors.Join(faults...)
	}
}

// sum adds a figure of RING INFO of some nodes.
func sum(crew []*cluster.Process, figure string) (all int64, err error) {
	for _, n := range crew {
		info, err := n.Info()
		if err != nil {
			return 0, err
		}
		all += info[figure]
	}
	return all, nil
}
