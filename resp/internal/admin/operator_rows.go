package admin

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/keys"
)

// OperatorCommands are about databases, snapshots and replication.
var OperatorCommands = []command.Row{
	{
		Name: "bgrewriteaof", Arity: 1, Group: "server", Run: on(cmdBgrewriteaof),
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagNoAsyncLoading,
	},
	{
		Name: "bgsave", Arity: -1, Group: "server", Run: on(cmdBgsave),
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagNoAsyncLoading,
	},
	{
		Name: "failover", Arity: -1, Group: "server", Refusal: msgNoFailover,
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagStale,
	},
	{
		Name: "lolwut", Arity: -1, Group: "server", Run: on(cmdLolwut),
		Flags: command.FlagReadonly | command.FlagFast,
	},
	{
		Name: "migrate", Arity: -6, Group: "generic", Refusal: msgNoMigrate, Hide: command.HideMigrate,
		Flags: command.FlagWrite | command.FlagDangerous,
		Tips:  []string{"nondeterministic_output"},
		Keys: []command.KeySpec{
			{Flags: "RW access delete", Index: 3, Step: 1, Find: command.MigrateKey},
			{Flags: "RW access delete incomplete", Keyword: "KEYS", From: -2, Last: -1, Step: 1, Find: command.MigrateKeys},
		},
	},
	{
		Name: "replicaof", Arity: 3, Group: "server", Run: on(cmdReplicaof),
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagStale | command.FlagNoAsyncLoading,
	},
	{
		Name: "restore-asking", Arity: -4, Group: "server", Run: keys.Restore,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagAsking | command.FlagKeyspace | command.FlagDangerous | command.FlagSystem,
		Keys:  []command.KeySpec{{Flags: "OW update", Index: 1, Step: 1}},
	},
	{
		Name: "role", Arity: 1, Group: "server", Run: on(cmdRole),
		Flags: command.FlagNoScript | command.FlagLoading | command.FlagStale | command.FlagFast | command.FlagAsAdmin,
	},
	{
		Name: "save", Arity: 1, Group: "server", Run: on(cmdSave),
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagNoAsyncLoading | command.FlagNoMulti,
	},
	{
		Name: "slaveof", Arity: 3, Group: "server", Run: on(cmdReplicaof),
		Flags: command.FlagAdmin | command.FlagNoScript | command.FlagStale | command.FlagNoAsyncLoading,
	},
}
