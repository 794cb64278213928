package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/node/nodetest"
)

// A result is what one round was.
type result struct {
	nodetest.Counts
	// Commands on keys of all types that were answered, and those that were not.
	typed, failed int64
	verdict       // of the key events
	faults        int
	settled       time.Duration
}

// round is faults for a while and then none, until all is well; then it judges.
func (c *testCluster) round(ctx context.Context, number int, kinds []string, t *total) (result, error) {
	r := nodetest.NewRecorder(fmt.Sprintf("r%d:", number))
	stop := make(chan struct{})
	var clients sync.WaitGroup
	var wires []*nodetest.Wire
	for i := range c.o.clients {
		doers, own := c.doers(c.members())
		wires = append(wires, own...)
		client := &nodetest.HistoryClient{
			Name: fmt.Sprint("c", i), Nodes: doers, Recorder: r, Pause: 10 * time.Millisecond,
			Patience: []time.Duration{time.Second, 5 * time.Second, 30 * time.Second}[i%3],
			Rand:     rand.New(rand.NewPCG(c.o.seed, uint64(number*1000+i))),
		}
		clients.Go(func() { client.Run(stop) })
	}
	c.copied = false
	types, events := c.begin(number), c.listen(number)
	faults := c.storm(ctx, kinds)
	r.Calm()
	settled, err := c.settle(ctx, c.o.bound)
	if err == nil {
		err = pause(ctx, time.Second) // clients see it whole
	}
	close(stop)
	for _, w := range wires {
		w.Close()
	}
	clients.Wait()
	types.end()
	events.end()
	doers, wires := c.doers(c.members())
	last := &nodetest.HistoryClient{Name: "last", Nodes: doers, Recorder: r, Patience: 5 * time.Second, Rand: c.rnd}
	bound, cancel := context.WithTimeout(ctx, c.o.bound)
	defer cancel()
	if err == nil {
		err = errors.Join(last.ReadAll(bound), t.verify(bound, c, doers))
	}
	for _, w := range wires {
		w.Close()
	}
	res := result{Counts: r.Counts(), faults: faults, settled: settled}
	if err == nil {
		last := &roam{c: c}
		done, failed, wrong := types.check(last.do)
		last.close()
		res.typed, res.failed = done, failed
		if err = wrong; err != nil {
			t.wrong++
		}
	}
	heard, unheard := events.check()
	if res.verdict = heard; err == nil && unheard != nil {
		err = unheard
		t.wrong++
	}
	wrong := r.Check()
	if wrong != nil && errors.Is(wrong, nodetest.ErrUndecided) && !errors.Is(wrong, nodetest.ErrWrong) {
		t.undecided++
		wrong = nil
	}
	if wrong != nil {
		t.wrong++
	} else {
		t.remember(r)
	}
	for _, f := range c.fell {
		c.say("ended by itself: %s", f)
	}
	t.fell += len(c.fell)
	c.fell = nil
	c.say("round %d: %d commands, %d refused, %d of unknown outcome, %d faults, in sync %.1f s after them; unavailable for at most %.1f s to writes, %.1f s to reads, and for %.1f s after the faults (%s)",
		number, res.Done, res.Refused, res.Unknown, faults, settled.Seconds(), res.LongestWrite.Seconds(), res.LongestRead.Seconds(), res.LongestCalm.Seconds(), res.Calm)
	return res, errors.Join(err, wrong)
}

func (c *testCluster) doers(nodes []*node) (map[string]nodetest.Doer, []*nodetest.Wire) {
	doers := map[string]nodetest.Doer{}
	var wires []*nodetest.Wire
	for _, n := range nodes {
		w := &nodetest.Wire{Dial: n.dial(c), Greeting: [][]string{{"RING", "ROUTE", "forward"}}}
		wires = append(wires, w)
		doers[n.id] = w.Do
	}
	return doers, wires
}

// storm lets things go wrong for about as long as a round is, then ends all that is left.
func (c *testCluster) storm(ctx context.Context, kinds []string) (faults int) {
	type fault struct {
		at  time.Time
		end func()
		say string
	}
	var open []fault
	until := time.Now().Add(c.o.round/2 + time.Duration(c.rnd.Int64N(int64(c.o.round))))
	for time.Now().Before(until) && ctx.Err() == nil {
		select {
		case <-time.After(time.Duration(c.rnd.IntN(4000)) * time.Millisecond):
		case <-ctx.Done():
		}
		open = slices.DeleteFunc(open, func(f fault) bool {
			over := time.Now().After(f.at)
			if over {
				f.end()
				c.tell("over: %s", f.say)
			}
			return over
		})
		up := c.running()
		down := slices.DeleteFunc(c.members(), func(n *node) bool { return n.pid() != 0 || c.taken(n) })
		if len(down) > 0 && (len(up) == 0 || c.rnd.IntN(2) == 0) {
			n := down[c.rnd.IntN(len(down))]
			c.tell("%s starts again: %v", n.id, c.revive(n))
			continue
		}
		if len(up) == 0 {
			continue // a fault is about to start them
		}
		n, k := up[c.rnd.IntN(len(up))], find(kinds[c.rnd.IntN(len(kinds))])
		what, end := k.begin(c, n)
		if what == "" {
			continue
		}
		faults++
		c.counts[k.name]++
		d := min(time.Duration(500<<c.rnd.IntN(7))*time.Millisecond+time.Duration(c.rnd.IntN(1000))*time.Millisecond, 30*time.Second)
		if k.waits {
			d = c.o.round * 2
		}
		c.tell("%s %s (%v)", n.id, what, d)
		f := fault{time.Now().Add(d), end, n.id + " " + what}
		if open = append(open, f); !k.waits { // what waits for nodes comes after what holds them
			copy(open[1:], open)
			open[0] = f
		}
	}
	for _, f := range open {
		f.end()
	}
	c.filling.Wait()
	_ = pause(ctx, 100*time.Millisecond) // what was ended has gone
	for _, n := range c.members() {
		if n.pid() == 0 {
			c.tell("%s starts again: %v", n.id, c.revive(n))
		}
	}
	c.tell("no more faults")
	return faults
}

// pause lets the load run for a while.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *testCluster) tell(format string, args ...any) {
	if c.o.Verbose {
		c.say(format, args...)
	}
}

func find(name string) *kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	return &kinds[i]
}
