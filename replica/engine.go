package replica

import (
	"context"
	"slices"
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

	totals   totals
	bucket   bucket
	arrivals arrivals

	kicked   chan struct{}
	sweeping sync.Mutex   // guards swept, and keeps ranges from being received
	swept    []ring.Range // that were empty and foreign by the last sweep

	mu        sync.Mutex
	held      map[ring.Token]bool  // starts of the ranges that are about to change hands
	own       []ring.Range         // that the store was told to serve
	transfers map[uint64]*transfer // by handoff; under way, or put off
}

// New starts the engine. Close must be called.
func New(cfg Config) (*Engine, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &Engine{cfg: cfg, cancel: cancel, kicked: make(chan struct{}, 1), held: make(map[ring.Token]bool), transfers: make(map[uint64]*transfer)}
	cfg.Store.Serve(nil)
	for _, loop := range []func(context.Context){e.route, e.send, e.lead, e.clean} {
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
	// A node that starts goes through all that the table has been. What comes before its
	// own registration tells nothing of now.
	if n, known := st.Node(e.cfg.Self); !known || n.Incarnation != e.cfg.Incarnation {
		return
	}
	held := make(map[ring.Token]bool, len(e.held))
	for start := range e.held {
		held[start] = true
	}
	// What this node led before it was started belongs to nobody before the table has
	// confirmed that it may go on.
	var own []ring.Range
	for row := range st.Rows() {
		switch {
		case row.Primary != e.cfg.Self:
		case row.Incarnation != e.cfg.Incarnation:
			held[row.Range.Start] = true
		default:
			own = append(own, row.Range)
		}
	}
	// Before clients are let in: where a store only follows it removes nothing.
	if own = merged(own); !slices.Equal(own, e.own) {
		e.own = own
		e.cfg.Store.Serve(own)
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
