package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// The commands about scripts.
var scriptCommands = []command.Row{
	evalRow("eval", "script", flagNone),
	evalRow("eval_ro", "script", command.FlagReadonly),
	evalRow("evalsha", "sha1", flagNone),
	evalRow("evalsha_ro", "sha1", command.FlagReadonly),
	evalRow("fcall", "function", flagNone),
	evalRow("fcall_ro", "function", command.FlagReadonly),
	{
		Name: "script", Arity: -2, Group: "scripting",
		Flags: command.FlagContainer,
		Subs: []*command.Row{
			{
				Name: "debug", Arity: 3, Group: "scripting", Run: byServer(cmdScriptDebug),
				Flags: command.FlagNoScript,
			},
			{
				Name: "exists", Arity: -3, Group: "scripting", Run: byServer(cmdScriptExists),
				Flags: command.FlagNoScript,
				Tips:  []string{"request_policy:all_shards", "response_policy:agg_logical_and"},
			},
			{
				Name: "flush", Arity: -2, Group: "scripting", Run: byServer(cmdScriptFlush),
				Flags: command.FlagNoScript,
				Tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "kill", Arity: 2, Group: "scripting", Run: byServer(cmdScriptKill),
				Flags: command.FlagNoScript | command.FlagAllowBusy,
				Tips:  []string{"request_policy:all_shards", "response_policy:one_succeeded"},
			},
			{
				Name: "load", Arity: 3, Group: "scripting", Run: byServer(cmdScriptLoad),
				Flags: command.FlagNoScript | command.FlagStale,
				Tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				Name: "help", Arity: 2, Group: "scripting", Run: admin.ScriptHelp,
				Flags: command.FlagLoading | command.FlagStale,
			},
		},
	},
}

const flagNone command.Flag = 0

func evalRow(name, what string, access command.Flag) command.Row {
	flags, notes, run := "RW access update", "", cmdEval
	if access == command.FlagReadonly {
		flags = "RO access"
	}
	switch what {
	case "script":
		notes = "Which keys are used how is for the script to know."
	case "function":
		notes, run = "What the function does is not known", cmdFCall
	}
	return command.Row{
		Name: name, Arity: -3, Group: "scripting", Run: byServer(run),
		Script: true, BySHA: what == "sha1", CallsFunction: what == "function",
		Flags: access | command.FlagNoScript | command.FlagStale | command.FlagSkipMonitor | command.FlagNoMandatoryKeys,
		Keys:  []command.KeySpec{{Flags: flags, Notes: notes, Index: 2, Keynum: true, First: 1, Step: 1}},
	}
}
