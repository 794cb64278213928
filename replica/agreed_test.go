package replica

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

// agreed is one table for all nodes. A command may be lost, or be applied although its
// caller hears nothing.
type agreed struct {
	mu      sync.Mutex
	history []*table.State
	rnd     *rand.Rand
	faults  float64
	applied func(before, after *table.State) // is told of each change
	views   []*view
}

func (a *agreed) State() *table.State {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.history[len(a.history)-1]
}

// any is one of the states that there have been, by its number.
func (a *agreed) any() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rnd.IntN(len(a.history))
}

// delay takes up to a time, which goes by in the test alone.
func (a *agreed) delay(most time.Duration) {
	a.mu.Lock()
	d := time.Duration(a.rnd.Int64N(int64(most)))
	a.mu.Unlock()
	time.Sleep(d)
}

var errNoAnswer = errors.New("no answer")

// propose is decide with what may happen on the way.
func (a *agreed) propose(c table.Command) error {
	a.delay(3 * time.Millisecond)
	defer a.delay(time.Millisecond)
	a.mu.Lock()
	lost, before := a.rnd.Float64() < a.faults, a.rnd.IntN(2) == 0
	a.mu.Unlock()
	if lost && before {
		return errNoAnswer
	}
	err := a.decide(c)
	if lost {
		return errNoAnswer
	}
	return err
}

func (a *agreed) decide(c table.Command) error {
	c, err := table.Decode(table.Encode(c))
	if err != nil {
		return err
	}
	a.mu.Lock()
	before := a.history[len(a.history)-1]
	after, err := before.Apply(before.Index()+1, c)
	if err == nil {
		a.history = append(a.history, after)
		for _, v := range a.views {
			v.wake()
		}
	}
	hook := a.applied
	a.mu.Unlock()
	if err == nil && hook != nil {
		hook(before, after)
	}
	return err
}

// A view is the table as one node knows it: a little later than it is decided, and not
// at all while the node is cut off.
type view struct {
	c    *testCluster
	node string
	kick chan struct{}
	stop chan struct{}
	done sync.WaitGroup

	mu      sync.Mutex
	at      int
	watches map[chan struct{}]struct{}
}

func newView(c *testCluster, node string, known int) *view {
	v := &view{
		c: c, node: node, at: known, kick: make(chan struct{}, 1), stop: make(chan struct{}),
		watches: make(map[chan struct{}]struct{}),
	}
	c.agreed.mu.Lock()
	c.agreed.views = append(c.agreed.views, v)
	c.agreed.mu.Unlock()
	v.wake()
	v.done.Go(v.follow)
	return v
}

func (v *view) close() {
	close(v.stop)
	v.done.Wait()
}

func (v *view) wake() {
	select {
	case v.kick <- struct{}{}:
	default:
	}
}

func (v *view) follow() {
	for {
		for v.step() {
			v.c.agreed.delay(2 * time.Millisecond)
		}
		select {
		case <-v.kick:
			v.c.agreed.delay(2 * time.Millisecond)
		case <-v.stop:
			return
		}
	}
}

// step applies one more change.
func (v *view) step() bool {
	v.c.agreed.mu.Lock()
	last := len(v.c.agreed.history) - 1
	v.c.agreed.mu.Unlock()
	if v.c.isCut(v.node) {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.at >= last {
		return false
	}
	v.at++
	v.signal()
	return true
}

// signal has those who watch look; mu is held.
func (v *view) signal() {
	for w := range v.watches {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// tell says that there is another leader.
func (v *view) tell() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.signal()
}

func (v *view) State() *table.State {
	v.mu.Lock()
	at := v.at
	v.mu.Unlock()
	v.c.agreed.mu.Lock()
	defer v.c.agreed.mu.Unlock()
	return v.c.agreed.history[at]
}

func (v *view) Changes() (<-chan struct{}, func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := make(chan struct{}, 1)
	v.watches[c] = struct{}{}
	return c, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.watches, c)
	}
}

func (v *view) Leads() bool { return v.c.leads(v.node) }

// Apply returns when this node knows the outcome.
func (v *view) Apply(ctx context.Context, c table.Command) error {
	if v.c.isCut(v.node) {
		time.Sleep(100 * time.Millisecond)
		return errNoAnswer
	}
	if err := v.c.agreed.propose(c); err != nil {
		return err
	}
	index := v.c.agreed.State().Index()
	// At the same moment as everybody else on this node: who is first is not said.
	changes, cancel := v.Changes()
	defer cancel()
	for v.State().Index() < index {
		select {
		case <-changes:
		case <-ctx.Done():
			return errNoAnswer
		}
	}
	return nil
}
