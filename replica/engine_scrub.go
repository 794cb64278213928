package replica

import (
	"context"
	"time"

	"github.com/ringside-kv/ringside/replica/scrub"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

func newScrub(e *Engine) *scrub.Scrub {
	cfg := scrub.Config{
		Self: e.cfg.Self, Incarnation: e.cfg.Incarnation, Store: e.cfg.Store, Table: e.cfg.Table,
		Feed: e.feed, Ranges: scrubSide{e}, Pacer: scrubSide{e}, Away: e.cfg.Away, Interval: e.cfg.Scrub,
		Done: e.ctx.Done(), Logger: e.cfg.Logger, Rules: e.cfg.rules,
	}
	if e.lease.Cfg.Ask != nil {
		cfg.Ask = func(ctx context.Context, node string, question *scrub.Request, answer *scrub.Reply) error {
			return e.ask(ctx, node, questionScrub, question, answer)
		}
	}
	return scrub.New(cfg)
}

// Scrub returns the comparison of this node's ranges with its backups.
func (e *Engine) Scrub() *scrub.Scrub { return e.scrub }

// scrubSide is the engine as the scrub needs it.
type scrubSide struct{ e *Engine }

// PromoteTo implements scrub.Ranges.
func (s scrubSide) PromoteTo(ctx context.Context, node string, rows []*table.Row) error {
	return s.e.promoteTo(ctx, node, rows)
}

// PublishRoutes implements scrub.Ranges.
func (s scrubSide) PublishRoutes() { s.e.publishRoutes() }

// Resigning implements scrub.Ranges.
func (s scrubSide) Resigning() bool { return s.e.resigning.Load() }

// AllCopiesAway implements scrub.Ranges.
func (s scrubSide) AllCopiesAway(st *table.State, row *table.Row) bool {
	return s.e.sweeper.allCopiesAway(st, row)
}

// Discard implements scrub.Ranges.
func (s scrubSide) Discard(ranges []ring.Range) error { return s.e.sweeper.discard(ranges) }

// Wait implements scrub.Pacer.
func (s scrubSide) Wait(rate int64) time.Duration { return s.e.limiter.wait(rate) }

// Spend implements scrub.Pacer.
func (s scrubSide) Spend(bytes int64) { s.e.limiter.spend(bytes) }

// RestForClients implements scrub.Pacer.
func (s scrubSide) RestForClients(ctx context.Context, worked time.Duration) {
	s.e.restForClients(ctx, worked)
}
