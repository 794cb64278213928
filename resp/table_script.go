package resp

// The commands about scripts.
var scriptCommands = []command{
	evalRow("eval", "script", "2.6.0", flagNone, "Runs a Lua script."),
	evalRow("eval_ro", "script", "7.0.0", flagReadonly, "Runs a Lua script that writes nothing."),
	evalRow("evalsha", "sha1", "2.6.0", flagNone, "Runs a Lua script that is known already."),
	evalRow("evalsha_ro", "sha1", "7.0.0", flagReadonly, "Runs a Lua script that is known already and writes nothing."),
	{
		name: "script", arity: -2, group: "scripting", since: "2.6.0",
		flags:      flagContainer,
		summary:    "Groups the commands about Lua scripts.",
		complexity: "Depends on the subcommand.",
		subs: []*command{
			{
				name: "debug", arity: 3, group: "scripting", since: "3.2.0", run: cmdScriptDebug,
				flags:      flagNoScript,
				summary:    "Chooses how scripts are debugged; there is no debugger.",
				complexity: "O(1)",
				args:       []argument{{name: "mode", kind: argOneOf, args: tokens("YES", "SYNC", "NO")}},
			},
			{
				name: "exists", arity: -3, group: "scripting", since: "2.6.0", run: cmdScriptExists,
				flags:      flagNoScript,
				summary:    "Tells which scripts are known.",
				complexity: "O(N) with N the number of scripts asked for.",
				tips:       []string{"request_policy:all_shards", "response_policy:agg_logical_and"},
				args:       []argument{{name: "sha1", kind: argString, multiple: true}},
			},
			{
				name: "flush", arity: -2, group: "scripting", since: "2.6.0", run: cmdScriptFlush,
				flags:      flagNoScript,
				summary:    "Forgets all scripts.",
				complexity: "O(N) with N the number of scripts.",
				tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				history:    [][2]string{{"6.2.0", "The modifiers `ASYNC` and `SYNC`."}},
				args:       []argument{{name: "async", kind: argOneOf, since: "6.2.0", optional: true, args: tokens("ASYNC", "SYNC")}},
			},
			{
				name: "kill", arity: 2, group: "scripting", since: "2.6.0", run: cmdScriptKill,
				flags:      flagNoScript | flagAllowBusy,
				summary:    "Ends the scripts that run, unless they have written something.",
				complexity: "O(1)",
				tips:       []string{"request_policy:all_shards", "response_policy:one_succeeded"},
			},
			{
				name: "load", arity: 3, group: "scripting", since: "2.6.0", run: cmdScriptLoad,
				flags:      flagNoScript | flagStale,
				summary:    "Makes a script known without running it.",
				complexity: "O(N) with N the length of the script.",
				tips:       []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				args:       []argument{{name: "script", kind: argString}},
			},
			{
				name: "help", arity: 2, group: "scripting", since: "5.0.0", run: cmdScriptHelp,
				flags:      flagLoading | flagStale,
				summary:    "Lists the subcommands, with one line for each.",
				complexity: "O(1)",
			},
		},
	},
}

const flagNone cmdFlag = 0

func evalRow(name, what, since string, access cmdFlag, summary string) command {
	flags, notes := "RW access update", ""
	if access == flagReadonly {
		flags = "RO access"
	}
	if what == "script" {
		notes = "Which keys are used how is for the script to know."
	}
	return command{
		name: name, arity: -3, group: "scripting", since: since, run: cmdEval,
		flags:      access | flagNoScript | flagStale | flagSkipMonitor | flagNoMandatoryKeys,
		summary:    summary,
		complexity: "That of the script.",
		keys:       []keySpec{{flags: flags, notes: notes, index: 2, keynum: true, first: 1, step: 1}},
		args: []argument{
			{name: what, kind: argString}, {name: "numkeys", kind: argInteger},
			{name: "key", kind: argKey, keySpec: 1, optional: true, multiple: true},
			{name: "arg", kind: argString, optional: true, multiple: true},
		},
	}
}
