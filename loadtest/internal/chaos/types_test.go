package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ringside-kv/ringside/resp/node/nodetest"
)

// applications are clients that write keys of all types of their own, and know the answers:
// commands of every type, transactions of two keys, and a group that reads a stream.
type applications struct {
	running sync.WaitGroup
	stop    chan struct{}
	roams   []*roam
	workers []*nodetest.AppWorker
	pairs   *nodetest.AppPairs
	group   *nodetest.AppGroup
}

// workersOfTypes is how many clients write keys of all types.
const workersOfTypes = 3

// begin starts them. What they write is named after the round.
func (c *testCluster) begin(number int) *applications {
	a := &applications{
		stop:  make(chan struct{}),
		pairs: &nodetest.AppPairs{Name: fmt.Sprintf("pairs%d", number)},
		group: &nodetest.AppGroup{Key: fmt.Sprintf("group%d", number)},
	}
	through := func() nodetest.Doer {
		r := &roam{c: c, next: len(a.roams)}
		a.roams = append(a.roams, r)
		return r.do
	}
	for i := range workersOfTypes {
		w := nodetest.NewAppWorker(fmt.Sprintf("types%d-%d", number, i), c.o.seed+uint64(number))
		a.workers = append(a.workers, w)
		do := through()
		a.running.Go(func() { w.Run(do, a.stop, true) })
	}
	pairs, group := through(), through()
	a.running.Go(func() { a.pairs.Run(pairs, a.stop) })
	a.running.Go(func() { a.group.Run(group, a.stop) })
	return a
}

// end has them stop, which ends what they wait for.
func (a *applications) end() {
	close(a.stop)
	for _, r := range a.roams {
		r.close()
	}
	a.running.Wait()
}

// check looks, once all is well, whether everything is there that they know of. It returns
// how many commands were answered and how many were not.
func (a *applications) check(do nodetest.Doer) (done, failed int64, err error) {
	var faults []error
	for _, w := range a.workers {
		done, failed = done+w.Done, failed+w.Failed
		faults = append(faults, w.Wrong, w.Check(do))
	}
	done, failed = done+a.pairs.Done+a.group.Done, failed+a.pairs.Failed+a.group.Failed
	faults = append(faults, a.pairs.Wrong, a.pairs.Check(do), a.group.Wrong, a.group.Check(do))
	return done, failed, errors.Join(faults...)
}

// A roam is a client that goes to another node when a command has failed.
type roam struct {
	c *testCluster

	mu     sync.Mutex
	wire   *nodetest.Wire
	next   int
	closed bool
}

var errOver = errors.New("the round is over")

func (r *roam) do(ctx context.Context, args ...string) (string, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return "", errOver
	}
	if r.wire == nil {
		nodes := r.c.members()
		n := nodes[r.next%len(nodes)]
		r.next++
		r.wire = &nodetest.Wire{Dial: n.dial(r.c), Greeting: [][]string{{"RING", "ROUTE", "forward"}}}
	}
	wire := r.wire
	r.mu.Unlock()
	reply, err := wire.Do(ctx, args...)
	if err != nil {
		wire.Close()
		r.mu.Lock()
		r.wire = nil
		r.mu.Unlock()
	}
	return reply, err
}

func (r *roam) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.wire != nil {
		r.wire.Close()
	}
}
