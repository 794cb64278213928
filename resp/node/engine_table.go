package node

import (
	"context"

	"github.com/ringside-kv/ringside/replica/table"
)

// engineTable implements replica.Table and lease.Consensus with a table.
type engineTable struct{ *table.Table }

func (a engineTable) Apply(ctx context.Context, c table.Command) error {
	_, err := a.Table.Apply(ctx, c)
	return err
}

// ApplyIn implements lease.Consensus.
func (a engineTable) ApplyIn(ctx context.Context, term uint64, c table.Command) error {
	_, err := a.Table.ApplyIn(ctx, term, c)
	return err
}

func (a engineTable) Leads() bool {
	_, self := a.Leader()
	return self
}
