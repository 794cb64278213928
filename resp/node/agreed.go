package node

import (
	"context"

	"github.com/ringside-kv/ringside/replica/table"
)

// agreed is the table as the engine sees it.
type agreed struct{ *table.Table }

func (a agreed) Apply(ctx context.Context, c table.Command) error {
	_, err := a.Table.Apply(ctx, c)
	return err
}

// ApplyIn implements replica.Consensus.
func (a agreed) ApplyIn(ctx context.Context, term uint64, c table.Command) error {
	_, err := a.Table.ApplyIn(ctx, term, c)
	return err
}

func (a agreed) Leads() bool {
	_, self := a.Leader()
	return self
}
