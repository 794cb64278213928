package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// look asks all nodes that are up, all at a time, and adds up what they have counted. The
// error says that none answers.
func (w *Watch) look(ctx context.Context) error {
	w.looking.Lock()
	defer w.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer context.AfterFunc(w.ctx, cancel)()
	there, err := w.find(ctx)
	if err != nil {
		return err
	}
	w.meet(there)
	var asking sync.WaitGroup
	for _, n := range w.nodes {
		if n.there {
			asking.Go(func() { n.fault = n.ask(ctx, w.access, w.began) })
		} else {
			n.hangUp()
		}
	}
	asking.Wait()
	up := w.up()
	if len(up) == 0 {
		faults := []error{errNobody}
		for _, n := range w.nodes {
			if n.there {
				faults = append(faults, fmt.Errorf("%s: %w", n.Addr, n.fault))
			}
		}
		return errors.Join(faults...)
	}
	for _, n := range up {
		w.sum = w.sum.add(n.since)
	}
	w.chart(ctx, up)
	return nil
}

// meet notes which nodes are up.
func (w *Watch) meet(there []Node) {
	for _, n := range w.nodes {
		n.there = false
	}
	for _, t := range there {
		n := w.nodes[t.ID]
		if n == nil {
			n = new(watched)
			w.nodes[t.ID] = n
			if !slices.Contains(w.order, t.ID) {
				w.order = append(w.order, t.ID)
			}
		}
		if n.Addr != t.Addr {
			n.hangUp()
		}
		n.Node, n.there = t, true
	}
}

// up are the nodes that have answered, as they were met.
func (w *Watch) up() (all []*watched) {
	for _, id := range w.order {
		if n := w.nodes[id]; n != nil && n.there && n.fault == nil {
			all = append(all, n)
		}
	}
	return all
}

// tell makes a sample of what the last look has shown.
func (w *Watch) tell() result.Sample {
	since := w.sum.sub(w.told)
	w.told = w.sum
	s := result.Sample{
		AtMS:      milliseconds(time.Since(w.cfg.Began)),
		MovedKeys: since.moved.Keys, MovedBytes: since.moved.Bytes,
	}
	if since.executed > 0 {
		s.Forwarded = min(1, float64(since.forwarded)/float64(since.executed))
	}
	cores := w.procs.last()
	for _, n := range w.up() {
		s.Handoffs += n.figures.int("handoffs_running")
		s.Nodes = append(s.Nodes, n.sample(cores))
	}
	s.Handoffs = (s.Handoffs + 1) / 2 // each is told of by both its ends
	if cores != nil {
		s.GeneratorCores, s.SharedCores = new(cores[Generator]), new(cores[""])
	}
	return s
}

func (n *watched) sample(cores map[string]float64) result.NodeSample {
	f, has := n.figures, n.figures.all()
	s := result.NodeSample{
		Node: n.ID, Keys: has.Keys, Bytes: has.Bytes,
		Primaries: f.int("primaries"), Backups: f.int("backups"), PerSecond: n.perSecond,
	}
	switch {
	case !n.Embedded:
		s.Cores, s.MemoryBytes = new(n.cores), new(f.int("used_memory_rss"))
	case cores != nil:
		s.Cores = new(cores[n.ID])
	}
	return s
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// lookOnce has all who watch the fleet look, before what a node has counted goes with it.
func (f *Cluster) lookOnce(ctx context.Context) {
	for _, w := range f.watchers() {
		_ = w.look(ctx)
	}
}
