package replica

import (
	"context"
	"errors"
	"github.com/ringside-kv/ringside/replica/feed"
	"log/slog"
	"time"
)

// sendLoop carries out the handoffs of which this node is the source, Config.Sends at a time, each
// to another node.
func (e *Engine) sendLoop(ctx context.Context) {
	changes, cancel := e.cfg.Table.Changes()
	defer cancel()
	ended := make(chan struct{}, 1)
	for ctx.Err() == nil {
		for {
			t := e.nextTransfer()
			if t == nil {
				break
			}
			e.done.Go(func() {
				err := e.handOff(ctx, t)
				e.endTry(ctx, t, err)
				select {
				case ended <- struct{}{}:
				default:
				}
			})
		}
		wake := time.NewTimer(e.untilRetry())
		select {
		case <-changes:
		case <-ended:
		case <-wake.C:
		case <-ctx.Done():
		}
		wake.Stop()
	}
}

// nextTransfer marks a handoff that can begin as running and returns it; nil if there is none. A
// handoff that waits gives way to the next one.
func (e *Engine) nextTransfer() *transfer {
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
			// The failures were those of an earlier start of the receiver.
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

// untilRetry returns the time until a handoff that was put off can be tried again.
func (e *Engine) untilRetry() time.Duration {
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

// maxBackoff is the longest pause after repeated failures, in units of Config.Retry. An unreachable
// receiver or an undecided entry may be back at any moment, and looking is cheap.
func maxBackoff(err error) int {
	switch {
	case errors.Is(err, errUnreachable):
		return 1
	case causeOf(err) == TableFailed:
		return 2
	}
	return 15
}

// endTry records how a try has ended.
func (e *Engine) endTry(ctx context.Context, t *transfer, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t.running = false
	switch {
	case err == nil || ctx.Err() != nil:
		delete(e.transfers, t.id)
		return
	case errors.Is(err, errBusy):
		e.noteWait(t, causeOf(err), err.Error())
		t.notBefore = time.Now().Add(e.cfg.Retry)
		return
	case errors.Is(err, feed.ErrChanged):
		t.failures, t.notBefore = 0, time.Now().Add(e.cfg.Retry/10)
		return
	case t.progressed:
		t.failures = 0 // progress was made since
	}
	if errors.Is(err, errOccupied) {
		// This is no failure. Each try holds these ranges for a moment, so tries become rare.
		e.noteWait(t, Cutover, err.Error())
		t.notBefore = time.Now().Add(e.cfg.Retry * time.Duration(min(maxBackoff(err), 1<<min(t.failures, 10))))
		t.failures++
		t.progressed = false
		return
	}
	cause := causeOf(err)
	if cause == Queued {
		e.noteWait(t, cause, err.Error())
		t.notBefore = time.Now().Add(e.cfg.Retry)
		return // no failure: its turn will come
	}
	pause := e.cfg.Retry * time.Duration(min(maxBackoff(err), 1<<min(t.failures, 10)))
	t.wait.set(cause, err.Error())
	t.failures++
	t.progressed = false
	t.notBefore = time.Now().Add(pause)
	e.totals.failed.Add(1)
	level := slog.LevelWarn
	switch {
	case t.failures&(t.failures-1) != 0:
		level = slog.LevelDebug // later failures are logged as the pauses double
	case t.failures == 1, errors.Is(err, errUnreachable):
		// The receiver is stopping or has just started. If it has failed, gossip says so.
		level = slog.LevelInfo
	}
	e.cfg.Logger.Log(ctx, level, "handoff put off", "handoff", t.id, "node", t.to, "pause", pause, "cause", cause.String(), "err", err)
}
