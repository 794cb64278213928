package replica

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/scrub"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// Engine moves ranges as the table says. On the leader it also plans what moves.
type Engine struct {
	cfg    Config
	ctx    context.Context // done once the engine closes
	cancel context.CancelFunc
	done   sync.WaitGroup

	totals       totals
	limiter      byteLimiter
	received     receivedStreams
	feed         *feed.Feed
	lease        *lease.Lease
	leaseHolders leaseHolders

	// The parts of the engine that are types of their own; each has its file. What they export are
	// methods of the engine.
	leaseServer
	scrub    *scrub.Scrub
	renewer  leaseRenewer
	planner  planner
	readOnly readOnly
	sweeper  sweeper

	resigning atomic.Bool
	holdMu    locks.CtxMutex // serializes changes of held rows

	mu          sync.Mutex
	held        map[ring.Token]bool // starts of ranges that are about to change
	own         []ring.Range        // as the store was told
	servedTerms []lease.ServedRow   // open rows of this node
	routed      routedState
	transfers   map[uint64]*transfer // by handoff; running or put off
}

// New starts the engine. The caller must Close it.
func New(cfg Config) (*Engine, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &Engine{
		cfg: cfg, ctx: ctx, cancel: cancel, lease: lease.New(cfg.Leases),
		held: make(map[ring.Token]bool), transfers: make(map[uint64]*transfer),
	}
	e.feed = e.newFeed()
	e.initParts()
	e.scrub = newScrub(e)
	e.lease.Refresh = e.publishRoutes
	cfg.Store.SetOwned(nil)
	loops := []func(context.Context){e.feed.Tend, e.feed.ReleaseLagging, e.sendLoop, e.planner.planLoop, e.planner.boundsLoop, e.sweeper.sweepLoop, e.scrub.CompareLoop, e.scrub.RepairLoop}
	if cfg.Leases.Clock != nil {
		loops = append(loops, e.renewer.renewLease, e.leaseServer.superviseLeases, e.leaseServer.watchReach, e.readOnly.watchWrites)
	}
	for _, loop := range loops {
		e.done.Go(func() { loop(ctx) })
	}
	return e, nil
}

// initParts lets the parts of the engine know it.
func (e *Engine) initParts() {
	e.leaseServer.e, e.renewer.e, e.planner.e, e.readOnly.e = e, e, e, e
	e.leaseServer.granter.Self = e.cfg.Self
	e.sweeper.init(e)
}

// Close stops all that is under way. It continues when the node starts again.
func (e *Engine) Close() {
	e.cancel()
	e.GiveUp()
	e.leaseServer.close()
	e.done.Wait()
	e.feed.Close()
}

// GiveUp fails all replies that wait for other nodes; the outcome of their commands is unknown. No
// write that needs another node succeeds after it.
func (e *Engine) GiveUp() { e.feed.CloseTaps() }

// A routedState is what the routes of the front follow from.
type routedState struct {
	table *table.State
	held  map[ring.Token]bool // starts of ranges
	valid bool                // this node's lease
}

// publishRoutes gives the front the present placement, with the held ranges, unless it has them
// already: routes take time in proportion to all ranges.
func (e *Engine) publishRoutes() {
	e.feed.Update()
	e.mu.Lock()
	defer e.mu.Unlock()
	st := e.cfg.Table.State()
	// A node that starts replays the history of the table. States from before its own registration
	// say nothing about the present.
	if n, known := st.Node(e.cfg.Self); !known || n.Incarnation != e.cfg.Incarnation {
		return
	}
	held := make(map[ring.Token]bool, len(e.held))
	for start := range e.held {
		held[start] = true
	}
	// Ranges of an earlier start stay closed until the table confirms them for this start, and all
	// ranges until their backups have joined. Without a lease no reply may leave, so no request
	// begins either.
	valid := e.lease.Valid()
	own := make([]ring.Range, 0, len(e.servedTerms))
	terms := make([]lease.ServedRow, 0, len(e.servedTerms))
	e.feed.EachOwn(st, func(row *table.Row, open, drained bool) {
		if !open || !valid {
			held[row.Range.Start] = true
		}
		if open {
			terms = append(terms, lease.ServedRow{Range: row.Range, Lineage: row.Lineage, Epoch: row.Epoch})
		}
		if open && !drained {
			own = append(own, row.Range)
		}
	})
	// Before clients are let in, copies to this node end, and the store owns the ranges.
	e.received.endOwned(st, e.cfg.Self)
	if own = spans.Join(own); !slices.Equal(own, e.own) {
		e.own = own
		e.cfg.Store.SetOwned(own)
	}
	if now := e.routed; now.table != st || now.valid != valid || !maps.Equal(now.held, held) {
		e.cfg.Front.Route(st.Placement(), func(r ring.Range) bool { return held[r.Start] })
		// The front says why it holds requests by the lease at its time.
		e.routed = routedState{st, held, valid && e.lease.Valid()}
	}
	if !slices.Equal(terms, e.servedTerms) {
		e.lease.RowsChanged(e.servedTerms, terms)
		e.servedTerms = terms
	}
}

// Lease returns this node's permission to answer.
func (e *Engine) Lease() *lease.Lease { return e.lease }

// hold closes ranges to clients for a while, or opens them again.
func (e *Engine) hold(ranges []ring.Range, on bool) {
	if !on {
		// Ranges that the table took away while they were held were drained before. The feed must
		// see the state while it still knows that.
		e.feed.Update()
		e.feed.EndDrained(ranges)
	}
	e.mu.Lock()
	for _, r := range ranges {
		if on {
			e.held[r.Start] = true
		} else {
			delete(e.held, r.Start)
		}
	}
	e.mu.Unlock()
	e.publishRoutes()
}

// reached reports a step to tests.
func (e *Engine) reached(s step.Step) {
	if e.cfg.Reached != nil {
		e.cfg.Reached(s)
	}
}
