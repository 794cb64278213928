package agreement

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/replica/decisions"
)

// noteTimeout bounds the note of an order: the reply does not wait for a node that does not answer.
const noteTimeout = time.Second

// NoteOrder has all nodes note an order that was accepted. One that cannot be noted is logged.
func (c *Changer) NoteOrder(ctx context.Context, order decisions.Order, logger *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, noteTimeout)
	defer cancel()
	err := agreed.ErrChanged
	for errors.Is(err, agreed.ErrChanged) && ctx.Err() == nil { // other orders may come first
		_, err = c.Agree(ctx, []agreed.Change{order.Change(c.Table.State().Values())})
	}
	if err != nil {
		logger.Warn("an order is not among the decisions of the cluster", "user", order.User, "order", order.Text, "err", err)
	}
}
