package replica

import (
	"context"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/ring"
)

// A gate is a front: operations run under the routes that they began with.
type gate struct {
	self    string
	mu      sync.Mutex
	p       *ring.Placement
	held    func(ring.Range) bool
	term    int
	running map[int]int // operations by term
}

func (g *gate) Route(p *ring.Placement, held func(ring.Range) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.p, g.held = p, held
	g.term++
}

func (g *gate) Quiesce(ctx context.Context, _ []ring.Range) ([]ring.Range, error) {
	g.mu.Lock()
	term := g.term
	g.mu.Unlock()
	for ctx.Err() == nil {
		g.mu.Lock()
		earlier := 0
		for t, n := range g.running {
			if t < term {
				earlier += n
			}
		}
		g.mu.Unlock()
		if earlier == 0 {
			return nil, nil
		}
		time.Sleep(50 * time.Microsecond)
	}
	return nil, ctx.Err()
}

// serve runs f if this node serves the key.
func (g *gate) serve(key string, f func()) bool {
	g.mu.Lock()
	if g.p == nil {
		g.mu.Unlock()
		return false
	}
	row, term := g.p.Lookup(tokenOf(key)), g.term
	if row.Primary != g.self || g.held(row.Range) {
		g.mu.Unlock()
		return false
	}
	g.running[term]++
	g.mu.Unlock()
	f()
	g.mu.Lock()
	g.running[term]--
	g.mu.Unlock()
	return true
}

// end lets nobody in any more, and waits for those who are.
func (g *gate) end() {
	g.mu.Lock()
	g.p = nil
	g.self = ""
	g.mu.Unlock()
	for {
		g.mu.Lock()
		running := 0
		for _, n := range g.running {
			running += n
		}
		g.mu.Unlock()
		if running == 0 {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}
