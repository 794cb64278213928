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
	// alive ends with the first server; its cause says how that ended.
	alive context.Context
	end   context.CancelCauseFunc
}

func newSide(ctx context.Context, name string) *side {
	s := &side{name: name}
	s.alive, s.end = context.WithCancelCause(ctx)
	return s
}

func (s *side) front() *server { return s.servers[len(s.servers)-1] }

func (s *side) addrs() (all []string) {
	for _, one := range s.servers {
		all = append(all, one.addr)
	}
	return all
}

// start starts one more server.
func (s *side) start(l launch) error {
	one, err := startServer(s.alive, l)
	if err != nil {
		return err
	}
	s.servers = append(s.servers, one)
	context.AfterFunc(one.Gone, func() {
		s.end(one.explain(fmt.Errorf("%s ended: %w", one.name, context.Cause(one.Gone))))
	})
	return nil
}

func (s *side) stop() {
	for _, one := range slices.Backward(s.servers) {
		one.stop()
	}
	s.end(nil)
}

// within returns a context that ends with alive or after limit.
func (s *side) within(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(s.alive, limit, fmt.Errorf("not finished within %v", limit))
}

// settle waits until no server does background work any more, or for limit.
func (s *side) settle(limit time.Duration) {
	ctx, cancel := s.within(limit)
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
