package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// A side is one contender of a pairing while it runs: one server, or several of which the last one,
// the front, serves the clients.
type side struct {
	name    string
	servers []*server // in the order of their start
}

func (s *side) front() *server { return s.servers[len(s.servers)-1] }

func (s *side) addrs() (all []string) {
	for _, one := range s.servers {
		all = append(all, one.addr)
	}
	return all
}

// start starts one more server.
func (s *side) start(ctx context.Context, l launch) error {
	one, err := startServer(ctx, l)
	if err != nil {
		return err
	}
	s.servers = append(s.servers, one)
	return nil
}

func (s *side) stop() {
	for _, one := range slices.Backward(s.servers) {
		one.stop()
	}
}

// died returns why one of the servers has ended, if one has.
func (s *side) died() error {
	for _, one := range s.servers {
		if !one.Runs() {
			return one.explain(fmt.Errorf("%s ended: %w", one.name, context.Cause(one.Gone)))
		}
	}
	return nil
}

// guard returns a context that ends with ctx, with one of the servers, or after limit.
func (s *side) guard(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancelTimeout := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not finished within %v", limit))
	ctx, cancel := context.WithCancelCause(ctx)
	var unhook []func() bool
	for _, one := range s.servers {
		unhook = append(unhook, context.AfterFunc(one.Gone, func() { cancel(s.died()) }))
	}
	return ctx, func() {
		for _, f := range unhook {
			f()
		}
		cancel(nil)
		cancelTimeout()
	}
}

// settle waits until no server does background work any more, or for limit.
func (s *side) settle(ctx context.Context, limit time.Duration) {
	ctx, cancel := s.guard(ctx, limit)
	defer cancel()
	for _, one := range s.servers {
		one.settle(ctx)
	}
}

// cpu is the processor time of each server; known is false if that of one is not.
func (s *side) cpu() (used []time.Duration, known bool) {
	known = true
	for _, one := range s.servers {
		_, all, ok := cluster.CPUTime(one.PID())
		used, known = append(used, all), known && ok
	}
	return used, known
}
