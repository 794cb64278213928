package loadtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/loadtest/result"
)

// events are what happens to a cluster in a play. An event lasts until the next one, or the
// end: all that moves until then, and all that clients see, counts as its effect.
type events struct {
	p   *play
	all []*event
	end *result.Loads // in the end; nil if not known
}

// An event is one that has happened, in times of the play.
type event struct {
	result.Event
	at, done time.Duration
	until    time.Duration // the next event, or the end
	balanced time.Duration // 0: it was not

	before   cluster.Moved     // when it began
	switched *cluster.Holdings // before a switch of the strategy; nil for other events
	evened   *cluster.Loads    // before load balancing; nil for other events
	loads    *result.Loads     // when it began; nil if not known
	stop     context.CancelFunc
	watching sync.WaitGroup // for balance
}

func (e *event) least(h cluster.Holding) { e.LeastKeys, e.LeastBytes = h.Keys, h.Bytes }

// unwatch ends the goroutine that waits for balance, if there is one.
func (e *event) unwatch() {
	if e.stop != nil {
		e.stop()
		e.watching.Wait()
	}
}

func (es *events) now() time.Duration { return time.Since(es.p.began) }

// happens carries out a step, and starts a goroutine that waits for balance.
func (es *events) happens(ctx context.Context, s *Step) error {
	p := es.p
	before, err := p.watch.Holdings(ctx)
	if err != nil {
		return fmt.Errorf("what nodes hold: %w", err)
	}
	moved, err := es.close(ctx)
	if err != nil {
		return err
	}
	loads, chart, err := es.chartLoads(ctx)
	if err != nil && s.Kind == StepEvenLoad {
		return err
	}
	e := &event{at: es.now(), before: moved, loads: chart}
	e.Name = s.Kind.String()
	es.all = append(es.all, e)
	var ids []string
	switch s.Kind {
	case StepJoin:
		ids, err = p.fleet.Join(ctx, s.Nodes)
	case StepLeave:
		ids, err = p.fleet.Leave(ctx, s.Nodes)
	case StepKill:
		ids, err = p.fleet.Kill(ctx, s.Nodes)
	case StepRestart:
		ids, err = p.fleet.Restart(ctx)
	case StepStrategy:
		e.Node, e.switched = s.Switch, &before
		err = p.fleet.Switch(ctx, strings.Fields(s.Switch))
	case StepHotspot:
		err = es.heat(ctx, s.Hot)
	case StepEvenLoad:
		e.evened = loads
		err = p.fleet.EvenLoad(ctx)
	}
	e.done = es.now()
	if s.changesMembers() {
		e.Node = strings.Join(ids, ",")
		e.least(p.fleet.Least(before))
	}
	if err != nil {
		return err
	}
	waiting, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.stop = stop
	e.watching.Go(func() {
		if p.fleet.Balanced(waiting) == nil {
			e.balanced = es.now()
		}
	})
	return nil
}

// heat turns clients to keys of one node, and names it.
func (es *events) heat(ctx context.Context, shares [2]float64) error {
	p := es.p
	count := max(p.cfg.keys(), int64(len(p.cfg.Workload.Names)))
	node, keys, err := p.fleet.HotKeys(ctx, count, p.cfg.Workload.AppendKey, shares[0])
	if err == nil {
		es.all[len(es.all)-1].Node = node
		p.hot.Set(keys, shares[1])
	}
	return err
}

// chartLoads notes the loads on ranges. Older nodes do not report them.
func (es *events) chartLoads(ctx context.Context) (*cluster.Loads, *result.Loads, error) {
	loads, err := es.p.watch.Loads(ctx)
	if err != nil {
		return nil, nil, err
	}
	chart := loads.Chart(es.p.began)
	es.p.run.Loads = append(es.p.run.Loads, chart)
	return loads, &chart, nil
}

// balanced notes that the cluster is balanced. The goroutine of the last event may not have seen that
// yet, and the next event would end it.
func (es *events) balanced() {
	if len(es.all) == 0 {
		return
	}
	e := es.all[len(es.all)-1]
	if e.unwatch(); e.balanced == 0 {
		e.balanced = es.now()
	}
}

// close ends the present event, if there is one, and returns what has moved so far.
func (es *events) close(ctx context.Context) (cluster.Moved, error) {
	if es.p.watch == nil {
		return cluster.Moved{}, nil
	}
	moved, err := es.p.watch.Moved(ctx)
	if len(es.all) == 0 {
		return moved, err
	}
	e := es.all[len(es.all)-1]
	e.unwatch()
	e.until = es.now()
	if e.switched != nil {
		after, failed := es.p.watch.Holdings(ctx)
		if failed == nil {
			e.least(cluster.LeastTo(*e.switched, after))
		}
		err = errors.Join(err, failed)
	}
	if e.evened != nil {
		after, failed := es.p.watch.Loads(ctx)
		if failed == nil {
			e.least(cluster.LeastLoad(e.evened, after.Placement))
		}
		err = errors.Join(err, failed)
	}
	own := moved.Sub(e.before)
	e.MovedKeys, e.MovedBytes, e.Handoffs = own.Keys, own.Bytes, own.Handoffs
	return moved, err
}

// last ends the last event.
func (es *events) last(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	_, _ = es.close(ctx)
	if es.p.watch != nil {
		_, es.end, _ = es.chartLoads(ctx)
	}
}

// figures are those of all events, by what clients saw.
func (es *events) figures(s *result.Series, took time.Duration) []result.Event {
	all := make([]result.Event, 0, len(es.all))
	calm, last := time.Duration(0), time.Duration(0) // since when nothing happens, and the event before
	for i, e := range es.all {
		if i == len(es.all)-1 {
			e.until = max(e.until, took)
		}
		e.AtMS, e.DoneMS = milliseconds(e.at), milliseconds(e.done)
		over := e.until
		if e.balanced > 0 {
			at := milliseconds(e.balanced)
			e.BalancedMS, over = &at, e.balanced
		}
		e.Before, e.During, e.After = span(s, calm, e.at), span(s, e.at, over), span(s, over, e.until)
		whole := s.Between(e.at, e.until)
		e.Failed, e.Unknown, e.LongestPauseMS = whole.Failed, whole.Unknown, whole.LongestPauseMS
		if e.LeastKeys > 0 {
			factor := float64(e.MovedKeys) / float64(e.LeastKeys)
			e.Factor = &factor
		}
		e.BalanceBefore = es.p.watch.Balance(milliseconds(last), milliseconds(e.at))
		if e.BalanceAfter = es.p.watch.Balance(milliseconds(over), milliseconds(e.until)); e.BalanceAfter == nil {
			e.BalanceAfter = es.p.watch.Balance(milliseconds(e.at), milliseconds(e.until)) // there was no time after
		}
		after := es.end
		if i+1 < len(es.all) {
			after = es.all[i+1].loads
		}
		addHottest(e.BalanceBefore, e.loads)
		addHottest(e.BalanceAfter, after)
		calm, last = over, e.at
		all = append(all, e.Event)
	}
	return all
}

// addHottest adds the share of the busiest range to a balance, if both are known.
func addHottest(b *result.Balance, l *result.Loads) {
	if b != nil && l != nil {
		b.HottestRange = l.HottestRange()
	}
}

func span(s *result.Series, from, until time.Duration) result.Span {
	if until <= from {
		return result.Span{}
	}
	c := s.Between(from, until)
	return result.Span{
		Milliseconds: milliseconds(until - from),
		PerSecond:    float64(c.Operations-c.Failed) / (until - from).Seconds(),
		P99:          c.Latency.P99,
	}
}
