package main

import (
	"context"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// again is how long a client waits before it repeats a SET that has failed.
const again = 2 * time.Millisecond

// A probe is a client that writes one key through one node.
type probe struct {
	key     string
	through *cluster.Process
	pause   time.Duration

	mu    sync.Mutex
	spans []span
	last  error // of a SET that has failed
}

// A span is from the first sending of a SET to its success.
type span struct{ began, ended time.Time }

func (s span) took() time.Duration { return s.ended.Sub(s.began) }

// runPauses writes until ctx ends.
func (p *probe) run(ctx context.Context) {
	var c *cluster.Conn
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	for ctx.Err() == nil {
		s := span{began: time.Now()}
		for ctx.Err() == nil {
			var err error
			if c == nil {
				c, err = cluster.Dial(p.through.Addr)
			}
			if err == nil {
				_, err = c.Do("SET", p.key, "value")
			}
			if err == nil {
				break
			}
			p.mu.Lock()
			p.last = err
			p.mu.Unlock()
			if c != nil {
				c.Close()
				c = nil
			}
			time.Sleep(again)
		}
		s.ended = time.Now()
		p.mu.Lock()
		p.spans = append(p.spans, s)
		p.mu.Unlock()
		time.Sleep(p.pause)
	}
}

// longest is the longest span that was open at some time between two moments.
func (p *probe) longest(from, to time.Time) (longest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.spans {
		if s.ended.After(from) && s.began.Before(to) {
			longest = max(longest, s.took())
		}
	}
	return longest
}

// before is the longest span that lies between two moments as a whole.
func (p *probe) before(from, to time.Time) (longest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.spans {
		if s.began.After(from) && s.ended.Before(to) {
			longest = max(longest, s.took())
		}
	}
	return longest
}

// probes run at the same time.
type probes struct {
	all    []*probe
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func (o *pausesOptions) probe(ctx context.Context, keys []string, through []*cluster.Process) *probes {
	ps := new(probes)
	ctx, ps.cancel = context.WithCancel(ctx)
	for i, key := range keys {
		p := &probe{key: key, through: through[i%len(through)], pause: o.pause}
		ps.all = append(ps.all, p)
		ps.done.Go(func() { p.run(ctx) })
	}
	return ps
}

// stop ends them after the SETs that are under way.
func (ps *probes) stop() {
	ps.cancel()
	ps.done.Wait()
}

// pauses are the longest spans of each key: of what lies between two moments as a whole,
// and of what was open at some time between the second and a third.
func (ps *probes) pauses(from, at, to time.Time) (before, pauses []time.Duration) {
	for _, p := range ps.all {
		before = append(before, p.before(from, at))
		pauses = append(pauses, p.longest(at, to))
	}
	return before, pauses
}

// failure is what a SET failed with last, if one did.
func (ps *probes) failure() error {
	for _, p := range ps.all {
		p.mu.Lock()
		err := p.last
		p.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}
