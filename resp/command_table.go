package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/functions"
	"github.com/ringside-kv/ringside/resp/internal/types"
)

// newCommandTable makes the table of all commands. It panics if a row is broken,
// which the tests would have found.
func newCommandTable() *command.Table {
	t := command.NewTable(append([][]command.Row{
		connectionCommands,
		transactionCommands,
		scriptCommands,
		admin.ServerCommands,
		serverCommands,
		databaseCommands,
		genericCommands,
		admin.MemoryCommands,
		admin.LatencyCommands,
		admin.ACLCommands,
		functions.Commands,
		admin.ModuleCommands,
		admin.OperatorCommands,
		pubsubCommands,
		clusterCommands,
		ringCommands,
	}, types.Commands...)...)
	for _, c := range t.All {
		if c.KeysOfExec {
			c.Within = t.KeysOfExec
			c.As = t.ByName["exec"]
		}
	}
	t.ByName["ring|move"].As = t.ByName["move"]
	t.ByName["ring|debug"].As = t.ByName["debug"]
	return t
}
