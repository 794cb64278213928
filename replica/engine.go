package replica

import (
	"context"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/ring"
)

// Engine moves ranges as the table says. On the node that leads it also says what
// should move.
type Engine struct {
	cfg    Config
	cancel context.CancelFunc
	done   sync.WaitGroup

	totals totals

	mu   sync.Mutex
	held map[ring.Token]bool // starts of the ranges that are about to change hands
}

// New starts the engine. Close must be called.
func New(cfg Config) (*Engine, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &Engine{cfg: cfg, cancel: cancel, held: make(map[ring.Token]bool)}
	for _, loop := range []func(context.Context){e.route, e.send, e.lead} {
		e.done.Go(func() { loop(ctx) })
	}
	return e, nil
}

// Close stops everything that is under way, which goes on when the node starts again.
func (e *Engine) Close() {
	e.cancel()
	e.done.Wait()
}

// route keeps the front by the newest state.
func (e *Engine) route(ctx context.Context) {
	changes, cancel := e.cfg.Table.Changes()
	defer cancel()
	for {
		e.publish()
		select {
		case <-changes:
		case <-ctx.Done():
			return
		}
	}
}

// publish gives the front the state as it is, without what is held.
func (e *Engine) publish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	st := e.cfg.Table.State()
	if !st.Founded() {
		return
	}
	held := make(map[ring.Token]bool, len(e.held))
	for start := range e.held {
		held[start] = true
	}
	// What this node led before it was started belongs to nobody before the table has
	// confirmed that it may go on.
	for row := range st.Rows() {
		if row.Primary == e.cfg.Self && row.Incarnation != e.cfg.Incarnation {
			held[row.Range.Start] = true
		}
	}
	e.cfg.Front.Route(st.Placement(), func(r ring.Range) bool { return held[r.Start] })
}

// hold takes ranges away from clients for a while, or gives them back.
func (e *Engine) hold(ranges []ring.Range, on bool) {
	e.mu.Lock()
	for _, r := range ranges {
		if on {
			e.held[r.Start] = true
		} else {
			delete(e.held, r.Start)
		}
	}
	e.mu.Unlock()
	e.publish()
}

// pause waits, unless the engine closes.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
