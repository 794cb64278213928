package node

import (
	"context"

	"github.com/ringside-kv/ringside/resp/node/internal/backup"
	"github.com/ringside-kv/ringside/ring"
)

// messageBackup begins a message about a backup; see messageQuestion.
const messageBackup = 'B'

// newBackups returns this node's part in backups.
func newBackups(c *cluster) *backup.Keeper {
	cfg := backup.Config{
		Self: c.n.id, Version: c.n.cfg.Version, Store: c.n.store, State: c.table.State, Served: func() ([]ring.Row, bool) { return servedRows(c) },
		Lease: c.engine.Lease(), Logger: c.n.cfg.Logger, PauseMoves: c.policies.PauseAll,
		Ask: func(ctx context.Context, node string, message []byte) ([]byte, error) {
			return askKept(ctx, c, node, append([]byte{messageBackup}, message...))
		},
	}
	if c.n.cfg.Role != RoleStore {
		cfg.Store = nil
	}
	return backup.New(cfg)
}

// Backup implements resp.Operator.
func (o operator) Backup(ctx context.Context, words []string, gone <-chan struct{}) ([]byte, error) {
	c, err := o.cluster()
	if err != nil {
		return nil, err
	}
	return c.backups.Command(ctx, words, gone)
}

// servedRows returns the rows that this node serves; ok is false if requests for some of its rows wait.
func servedRows(c *cluster) (rows []ring.Row, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for row := range c.placement.Rows() {
		if row.Primary == c.n.id && c.held(row.Range) {
			return nil, false
		}
		if row.Primary == c.n.id {
			rows = append(rows, *row)
		}
	}
	return rows, c.routed
}
