package admin

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/keys"
)

// MemoryCommands are about memory.
var MemoryCommands = []command.Row{
	{
		Name: "memory", Arity: -2, Group: "server",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "doctor", Arity: 2, Group: "server", Run: on(cmdMemoryDoctor),
				Tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
			{
				Name: "help", Arity: 2, Group: "server", Run: cmdMemoryHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
			{
				Name: "malloc-stats", Arity: 2, Group: "server", Run: on(cmdMemoryMallocStats),
				Tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
			{
				Name: "purge", Arity: 2, Group: "server", Run: on(cmdMemoryPurge),
				Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				Name: "stats", Arity: 2, Group: "server", Run: on(cmdMemoryStats),
				Tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
			{
				Name: "usage", Arity: -3, Group: "server", Run: keys.MemoryUsage,
				Flags: command.FlagReadonly,
				Keys:  []command.KeySpec{{Flags: "RO", Index: 2, Step: 1}},
			},
		},
	},
}
