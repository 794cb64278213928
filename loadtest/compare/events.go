package compare

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/loadtest/fleet"
	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/script"
	"github.com/ringside-kv/ringside/loadtest/series"
)

// events are what happens to a cluster in a play. An event lasts until the next one, or the
// end: what moves until then, and what clients see, is put down to it.
type events struct {
	p   *play
	all []*event
}

// An event is one that has happened, in times of the play.
type event struct {
	report.Event
	at, done time.Duration
	until    time.Duration // the next event, or the end
	balanced time.Duration // 0: it was not

	before   fleet.Moved // when it began
	stop     context.CancelFunc
	watching sync.WaitGroup // for balance
}

func newEvents(p *play) *events { return &events{p: p} }

func (es *events) now() time.Duration { return time.Since(es.p.began) }

// happens does what a step says, and lets somebody wait for balance.
func (es *events) happens(ctx context.Context, s *script.Step) error {
	p := es.p
	before, err := p.watch.Holdings(ctx)
	if err != nil {
		return fmt.Errorf("what nodes hold: %w", err)
	}
	copies := min(p.cfg.Fleet.Backups+1, len(p.ids()))
	balance, err := es.close(ctx)
	if err != nil {
		return err
	}
	e := &event{at: es.now(), before: p.watch.Totals()}
	e.Name, e.BalanceBefore = s.Kind.String(), balance
	var ids []string
	switch s.Kind {
	case script.Join:
		ids, err = p.fleet.Join(ctx, s.Nodes)
	case script.Leave:
		ids, err = p.fleet.Leave(ctx, s.Nodes)
	case script.Kill:
		ids, err = p.fleet.Kill(ctx, s.Nodes)
	case script.Restart:
		ids, err = p.fleet.Restart(ctx)
	}
	e.done = es.now()
	e.Node = strings.Join(ids, ",")
	es.all = append(es.all, e)
	least := es.least(before, copies)
	e.LeastKeys, e.LeastBytes = least.Keys, least.Bytes
	if err != nil {
		e.stop = func() {}
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

// least is what has to move at the least from what nodes held to where it belongs now.
func (es *events) least(before fleet.Holdings, copies int) fleet.Holding {
	weights := make(map[string]float64)
	for _, id := range es.p.ids() {
		weights[id] = 1
	}
	var total fleet.Holding
	for _, h := range before {
		total.Keys += h.Keys
		total.Bytes += h.Bytes
	}
	total.Keys /= int64(max(copies, 1))
	total.Bytes /= int64(max(copies, 1))
	return fleet.Least(before, weights, min(es.p.cfg.Fleet.Backups+1, len(weights)), total)
}

// close ends the event that goes on, if there is one, and tells how even the cluster is.
func (es *events) close(ctx context.Context) (*report.Balance, error) {
	if es.p.watch == nil {
		return nil, nil
	}
	balance, err := es.p.watch.Balance(ctx)
	if len(es.all) == 0 {
		return balance, err
	}
	e := es.all[len(es.all)-1]
	e.stop()
	e.watching.Wait()
	e.until = es.now()
	e.BalanceAfter = balance
	moved := es.p.watch.Totals()
	e.MovedKeys, e.MovedBytes, e.Handoffs = moved.Keys-e.before.Keys, moved.Bytes-e.before.Bytes, moved.Handoffs-e.before.Handoffs
	return balance, err
}

// last ends the last event.
func (es *events) last(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	_, _ = es.close(ctx)
}

// figures are those of all events, by what clients saw.
func (es *events) figures(s *series.Series, took time.Duration) []report.Event {
	all := make([]report.Event, 0, len(es.all))
	calm := time.Duration(0) // since when nothing happens
	for _, e := range es.all {
		if e.until == 0 {
			e.until = took
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
		calm = over
		all = append(all, e.Event)
	}
	return all
}

func span(s *series.Series, from, until time.Duration) report.Span {
	if until <= from {
		return report.Span{}
	}
	c := s.Between(from, until)
	return report.Span{
		Milliseconds: milliseconds(until - from),
		PerSecond:    float64(c.Operations-c.Failed) / (until - from).Seconds(),
		P99:          c.Latency.P99,
	}
}
