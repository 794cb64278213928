package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/functions"
	"github.com/ringside-kv/ringside/resp/internal/types/bitmaps"
	"github.com/ringside-kv/ringside/resp/internal/types/geo"
	"github.com/ringside-kv/ringside/resp/internal/types/hashes"
	"github.com/ringside-kv/ringside/resp/internal/types/hyperloglogs"
	"github.com/ringside-kv/ringside/resp/internal/types/keys"
	"github.com/ringside-kv/ringside/resp/internal/types/lists"
	"github.com/ringside-kv/ringside/resp/internal/types/sets"
	"github.com/ringside-kv/ringside/resp/internal/types/streams"
	"github.com/ringside-kv/ringside/resp/internal/types/strings"
	"github.com/ringside-kv/ringside/resp/internal/types/zsets"
)

// newCommandTable makes the table of all commands. It panics if a row is broken,
// which the tests would have found.
func newCommandTable() *command.Table {
	t := command.NewTable(
		connectionCommands,
		transactionCommands,
		scriptCommands,
		admin.ServerCommands,
		serverCommands,
		databaseCommands,
		genericCommands,
		keys.Commands,
		strings.Commands,
		bitmaps.Commands,
		hashes.Commands,
		sets.Commands,
		lists.Commands,
		lists.BlockingCommands,
		streams.Commands,
		hyperloglogs.Commands,
		keys.SortCommands,
		admin.MemoryCommands,
		admin.LatencyCommands,
		admin.ACLCommands,
		functions.Commands,
		admin.ModuleCommands,
		admin.OperatorCommands,
		pubsubCommands,
		zsets.Commands,
		zsets.BlockingCommands,
		zsets.RangeCommands,
		geo.Commands,
		clusterCommands,
		ringCommands,
	)
	for _, c := range t.All {
		if c.KeysOfExec {
			c.Within = t.KeysOfExec
			c.As = t.ByName["exec"]
		}
	}
	t.ByName["ring|move"].As = t.ByName["move"]
	return t
}
