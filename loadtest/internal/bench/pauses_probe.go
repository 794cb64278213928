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
	key   string
	addr  string
	pause time.Duration

	spans  []span // from the first sending of a SET to its success
	failed error  // of the last SET that failed
}

// run writes until ctx ends. The SET that is under way then counts, too.
func (p *probe) run(ctx context.Context) {
	var c *cluster.Conn
	for ctx.Err() == nil {
		s := span{began: time.Now()}
		for ctx.Err() == nil {
			var err error
			if c == nil {
				c, err = cluster.Dial(p.addr)
			}
			if err == nil {
				if _, err = c.Do("SET", p.key, "value"); err == nil {
					break
				}
				c.Close()
				c = nil
			}
			p.failed = err
			time.Sleep(again)
		}
		s.ended = time.Now()
		p.spans = append(p.spans, s)
		time.Sleep(p.pause)
	}
	if c != nil {
		c.Close()
	}
}

func (s span) overlaps(from, to time.Time) bool { return s.ended.After(from) && s.began.Before(to) }

// longest is the longest of some spans.
func (p *probe) longest(of func(span) bool) (longest time.Duration) {
	for _, s := range p.spans {
		if of(s) {
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

// startProbes starts one for each key. They take the nodes in turn.
func startProbes(ctx context.Context, keys []string, through []*cluster.Process, pause time.Duration) *probes {
	ps := new(probes)
	ctx, ps.cancel = context.WithCancel(ctx)
	for i, key := range keys {
		p := &probe{key: key, addr: through[i%len(through)].Addr, pause: pause}
		ps.all = append(ps.all, p)
		ps.done.Go(func() { p.run(ctx) })
	}
	return ps
}

// stop ends them after the SETs that are under way. What they found can be read then.
func (ps *probes) stop() {
	ps.cancel()
	ps.done.Wait()
}
