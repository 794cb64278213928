package replica

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/ring"
)

// Engine moves ranges as the table says. On the node that leads it also says what
// should move.
type Engine struct {
	// registeredAt is when renew first saw this start registered, by the clock of the node's own
	// lease; 0 before.
	registeredAt time.Duration

	cfg    Config
	ctx    context.Context // done once the engine closes
	cancel context.CancelFunc
	done   sync.WaitGroup

	totals       totals
	limiter      byteLimiter
	received     receivedStreams
	feed         *feed.Feed
	lease        *lease.Lease
	leaseServer  leaseServer
	scrub        scrub
	readOnly     readOnly
	leaseHolders leaseHolders

	sweepNow chan struct{}
	sweeper  sweeper

	resigning atomic.Bool
	holdMu    locks.CtxMutex // of those who hold rows until the table has decided

	mu          sync.Mutex
	held        map[ring.Token]bool  // starts of the ranges that are about to change hands
	own         []ring.Range         // that the store was told to serve
	servedTerms []lease.ServedRow    // of the rows that this node serves
	transfers   map[uint64]*transfer // by handoff; under way, or put off
}

// New starts the engine. Close must be called.
func New(cfg Config) (*Engine, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &Engine{
		cfg: cfg, ctx: ctx, cancel: cancel, lease: lease.New(cfg.Leases),
		sweepNow: make(chan struct{}, 1), held: make(map[ring.Token]bool), transfers: make(map[uint64]*transfer),
	}
	e.feed = e.newFeed()
	e.scrub.init()
	e.sweeper.mu = locks.NewChanMutex()
	e.lease.Refresh = e.publishRoutes
	cfg.Store.SetOwned(nil)
	loops := []func(context.Context){e.feed.Tend, e.feed.ReleaseLagging, e.sendLoop, e.planLoop, e.mergeLoop, e.sweepLoop, e.scrubLoop, e.repairLoop}
	if cfg.Leases.Clock != nil {
		loops = append(loops, e.renewLease, e.superviseLeases, e.watchWrites)
	}
	for _, loop := range loops {
		e.done.Go(func() { loop(ctx) })
	}
	return e, nil
}

// Close stops everything that is under way, which goes on when the node starts again.
func (e *Engine) Close() {
	e.cancel()
	e.GiveUp()
	e.leaseServer.close()
	e.done.Wait()
	e.feed.Close()
}

// GiveUp ends the wait of all replies that need another node's word: what becomes of
// their commands is not known. From then on no write succeeds that would need one.
func (e *Engine) GiveUp() { e.feed.CloseTaps() }

// publishRoutes gives the front the state as it is, without what is held.
func (e *Engine) publishRoutes() {
	e.feed.Update()
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
	// confirmed that it may go on, and what it leads to no client before its backups are
	// where it is. Without a lease nothing may be answered, so nothing is begun either.
	serves := e.feed.Serves(st)
	valid := e.lease.Valid()
	var own []ring.Range
	var terms []lease.ServedRow
	for row := range st.Rows() {
		if row.Primary != e.cfg.Self {
			continue
		}
		open, still := serves(row)
		if !open || !valid {
			held[row.Range.Start] = true
		}
		if open {
			terms = append(terms, lease.ServedRow{Range: row.Range, Lineage: row.Lineage, Epoch: row.Epoch})
		}
		if open && !still {
			own = append(own, row.Range)
		}
	}
	// Before clients are let in: what is copied here comes to its end, and where a store only
	// follows it removes nothing.
	e.received.endOwned(st, e.cfg.Self)
	if own = spans.Join(own); !slices.Equal(own, e.own) {
		e.own = own
		e.cfg.Store.SetOwned(own)
	}
	e.cfg.Front.Route(st.Placement(), func(r ring.Range) bool { return held[r.Start] })
	if !slices.Equal(terms, e.servedTerms) {
		e.lease.RowsChanged(e.servedTerms, terms)
		e.servedTerms = terms
	}
}

// Lease is this node's permission to answer.
func (e *Engine) Lease() *lease.Lease { return e.lease }

// hold takes ranges away from clients for a while, or gives them back.
func (e *Engine) hold(ranges []ring.Range, on bool) {
	if !on {
		// What the table has taken while they were held was drained before: the feeds must
		// see it as long as they know that.
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

// reached tells those who look on that this node has come to a step.
func (e *Engine) reached(s step.Step) {
	if e.cfg.Reached != nil {
		e.cfg.Reached(s)
	}
}
