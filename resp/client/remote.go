package client

import (
	"context"
	"math/rand/v2"
	"sync"
)

// A remote is a node as the client reaches it: by its address, over few lanes.
type remote struct {
	addr    string
	lanes   []*lane
	close   context.CancelFunc
	running sync.WaitGroup
	unused  int // how often watch has found it needless
}

func newRemote(ctx context.Context, cfg *Config, m *metrics, addr string) *remote {
	r := &remote{addr: addr}
	ctx, r.close = context.WithCancel(ctx)
	for range cfg.Conns {
		l := newLane(ctx, cfg, m, addr)
		r.lanes = append(r.lanes, l)
		r.running.Go(l.run)
	}
	return r
}

// lane picks one of the lanes at random.
func (r *remote) lane() *lane {
	if len(r.lanes) == 1 {
		return r.lanes[0]
	}
	return r.lanes[rand.IntN(len(r.lanes))]
}

func (r *remote) busy() bool {
	for _, l := range r.lanes {
		if l.busy() {
			return true
		}
	}
	return false
}

// connected reports whether any lane has a connection.
func (r *remote) connected() bool {
	for _, l := range r.lanes {
		if l.connected() {
			return true
		}
	}
	return false
}

func (r *remote) watch() {
	for _, l := range r.lanes {
		l.watch()
	}
}

// closedRemote refuses everything.
func closedRemote(addr string) *remote {
	l := new(lane)
	l.state, l.refusal = muxClosed, notSent(ErrClosed)
	return &remote{addr: addr, lanes: []*lane{l}, close: func() {}}
}
