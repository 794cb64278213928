package table

import (
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// A hanging keeps nodes from applying entries.
type hanging struct {
	mu sync.Mutex
	on map[string]chan struct{} // closed when entries are applied again
}

func (h *hanging) applying(id string) {
	h.mu.Lock()
	until := h.on[id]
	h.mu.Unlock()
	if until != nil {
		<-until
	}
}

// hang keeps a node from applying entries until release is called.
func (h *hanging) hang(id string) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	until := make(chan struct{})
	h.on[id] = until
	return sync.OnceFunc(func() {
		h.mu.Lock()
		delete(h.on, id)
		h.mu.Unlock()
		close(until)
	})
}

// A follower hangs in an entry, and the leadership changes. Entries are applied again within seconds.
func TestStuckFollowerDoesNotKeepTheLeadership(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(g *group, leader *Table, stuck, other string)
		within time.Duration
	}{
		{"the leader ends", func(g *group, leader *Table, _, _ string) {
			time.Sleep(200 * time.Millisecond)
			g.kill(leader.cfg.ID)
		}, 2300 * time.Millisecond}, // 2.6 s if the node that hangs is elected first
		{"the leader hands over to it", func(g *group, leader *Table, stuck, _ string) {
			time.Sleep(200 * time.Millisecond)
			for _, s := range leader.servers() {
				if s.Address == raft.ServerAddress(stuck) {
					g.must(Result{}, leader.transferTo(s))
				}
			}
		}, 6 * time.Second},
		{"it alone has the newest entry", func(g *group, leader *Table, _, other string) {
			g.link(leader.cfg.ID, other, false)
			g.must(leader.Apply(g.context(), &SetWeight{"n1", 1, 3}))
			g.kill(leader.cfg.ID)
		}, 10 * time.Second},
	} {
		for which := range 2 {
			t.Run(test.name, func(t *testing.T) {
				virtually(t, "", func(t *testing.T, g *group) {
					h := &hanging{on: map[string]chan struct{}{}}
					g.change = func(c *Config) { c.Hooks.Applying = func() { h.applying(c.ID) } }
					g.start(3)
					leader := g.leader()
					followers := []string{}
					for i := range 3 {
						if nodeID(i) != leader.cfg.ID {
							followers = append(followers, nodeID(i))
						}
					}
					stuck, other := followers[which], followers[1-which]
					release := h.hang(stuck)
					defer release()
					g.must(leader.Apply(g.context(), &SetWeight{"n1", 1, 2}))
					test.change(g, leader, stuck, other)
					took := g.decided(g.tables[other], 4)
					t.Logf("decided after %v", took)
					if took > test.within {
						t.Errorf("that is late")
					}
					if g.leader() == g.tables[stuck] {
						t.Error("the node that hangs leads")
					}
					release()
					g.until(g.alike, "the node follows again")
				})
			})
		}
	}
}
