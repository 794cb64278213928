package replica

import (
	"context"
	"errors"
	"time"
)

// send carries out the handoffs of which this node is the source, Config.Sends of them
// at a time, each to another node.
func (e *Engine) send(ctx context.Context) {
	changes, cancel := e.cfg.Table.Changes()
	defer cancel()
	ended := make(chan struct{}, 1)
	for ctx.Err() == nil {
		for {
			t := e.next()
			if t == nil {
				break
			}
			e.done.Go(func() {
				err := e.handOff(ctx, t)
				e.after(ctx, t, err)
				select {
				case ended <- struct{}{}:
				default:
				}
			})
		}
		wake := time.NewTimer(e.patience())
		select {
		case <-changes:
		case <-ended:
		case <-wake.C:
		case <-ctx.Done():
		}
		wake.Stop()
	}
}

// next returns a handoff that can be begun, as begun, or nil. Who waits for something
// gives way to those behind it.
func (e *Engine) next() *transfer {
	st := e.cfg.Table.State()
	e.mu.Lock()
	defer e.mu.Unlock()
	running := 0
	for id, t := range e.transfers {
		if _, ok := st.Handoff(id); !ok && !t.running {
			delete(e.transfers, id)
		}
		if t.running {
			running++
		}
	}
	if st.Cluster().Paused || running >= e.cfg.Sends || e.resigning.Load() {
		return nil
	}
	for _, h := range st.Handoffs() {
		t := e.transfers[h.ID]
		if h.From != e.cfg.Self || t != nil && t.running {
			continue
		}
		if t != nil {
			// Who has been started again is not who failed.
			if to, _ := st.Node(h.To); to.Incarnation != t.incarnation {
				t.failures, t.notBefore = 0, time.Time{}
			}
			if time.Now().Before(t.notBefore) {
				continue
			}
		}
		if t == nil {
			t = &transfer{id: h.ID, to: h.To, started: time.Now()}
			e.transfers[h.ID] = t
		}
		t.running = true
		return t
	}
	return nil
}

// patience is how long until a handoff that was put off can be tried again.
func (e *Engine) patience() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	wait := time.Hour
	for _, t := range e.transfers {
		if !t.running {
			wait = min(wait, time.Until(t.notBefore))
		}
	}
	return max(wait, time.Millisecond)
}

// longestRetry bounds the pause after something that failed again and again, in units
// of Config.Retry.
const longestRetry = 15

// after notes how a try has ended.
func (e *Engine) after(ctx context.Context, t *transfer, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t.running = false
	switch {
	case err == nil || ctx.Err() != nil:
		delete(e.transfers, t.id)
		return
	case errors.Is(err, errBusy):
		e.waits(t, causeOf(err), err.Error())
		t.notBefore = time.Now().Add(e.cfg.Retry)
		return
	case errors.Is(err, errChanged):
		t.failures, t.notBefore = 0, time.Now().Add(e.cfg.Retry/10)
		return
	case t.moved:
		t.failures = 0 // something went well since
	}
	pause := e.cfg.Retry * time.Duration(min(longestRetry, 1<<min(t.failures, 10)))
	cause := causeOf(err)
	if cause == Turn {
		e.waits(t, cause, err.Error())
		t.notBefore = time.Now().Add(e.cfg.Retry)
		return // nothing is wrong: its turn comes
	}
	t.waits.set(cause, err.Error())
	if cause == Unreachable && e.cfg.Away(t.to) {
		pause = e.cfg.Retry // so that it has not long to wait when it is back
	}
	t.failures++
	t.moved = false
	t.notBefore = time.Now().Add(pause)
	e.totals.failed.Add(1)
	e.cfg.Logger.Warn("handoff put off", "handoff", t.id, "node", t.to, "pause", pause, "cause", cause.String(), "err", err)
}
