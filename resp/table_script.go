package resp

// The commands about scripts.
var scriptCommands = []command{
	evalRow("eval", "script", flagNone),
	evalRow("eval_ro", "script", flagReadonly),
	evalRow("evalsha", "sha1", flagNone),
	evalRow("evalsha_ro", "sha1", flagReadonly),
	{
		name: "script", arity: -2, group: "scripting",
		flags: flagContainer,
		subs: []*command{
			{
				name: "debug", arity: 3, group: "scripting", run: byServer(cmdScriptDebug),
				flags: flagNoScript,
			},
			{
				name: "exists", arity: -3, group: "scripting", run: byServer(cmdScriptExists),
				flags: flagNoScript,
				tips:  []string{"request_policy:all_shards", "response_policy:agg_logical_and"},
			},
			{
				name: "flush", arity: -2, group: "scripting", run: byServer(cmdScriptFlush),
				flags: flagNoScript,
				tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				name: "kill", arity: 2, group: "scripting", run: byServer(cmdScriptKill),
				flags: flagNoScript | flagAllowBusy,
				tips:  []string{"request_policy:all_shards", "response_policy:one_succeeded"},
			},
			{
				name: "load", arity: 3, group: "scripting", run: byServer(cmdScriptLoad),
				flags: flagNoScript | flagStale,
				tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			},
			{
				name: "help", arity: 2, group: "scripting", run: cmdScriptHelp,
				flags: flagLoading | flagStale,
			},
		},
	},
}

const flagNone cmdFlag = 0

func evalRow(name, what string, access cmdFlag) command {
	flags, notes := "RW access update", ""
	if access == flagReadonly {
		flags = "RO access"
	}
	if what == "script" {
		notes = "Which keys are used how is for the script to know."
	}
	return command{
		name: name, arity: -3, group: "scripting", run: byServer(cmdEval),
		script: true,
		flags:  access | flagNoScript | flagStale | flagSkipMonitor | flagNoMandatoryKeys,
		keys:   []keySpec{{flags: flags, notes: notes, index: 2, keynum: true, first: 1, step: 1}},
	}
}
