package resp

// The commands about functions and modules, of which there are none.
var functionCommands = []command{
	{
		name: "fcall", arity: -3, group: "scripting", refusal: msgNoFunctions,
		flags: flagNoScript | flagStale | flagSkipMonitor | flagNoMandatoryKeys,
		keys:  []keySpec{{flags: "RW access update", notes: "What the function does is not known", index: 2, keynum: true, first: 1, step: 1}},
	},
	{
		name: "fcall_ro", arity: -3, group: "scripting", refusal: msgNoFunctions,
		flags: flagReadonly | flagNoScript | flagStale | flagSkipMonitor | flagNoMandatoryKeys,
		keys:  []keySpec{{flags: "RO access", notes: "What the function does is not known", index: 2, keynum: true, first: 1, step: 1}},
	},
	{
		name: "function", arity: -2, group: "scripting",
		flags: flagContainer,
		subs: []*command{
			{
				name: "delete", arity: 3, group: "scripting", run: byServer(cmdFunctionDelete),
				flags: flagWrite | flagNoScript,
				tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				name: "dump", arity: 2, group: "scripting", refusal: msgNoFunctions,
				flags: flagNoScript,
			},
			{
				name: "flush", arity: -2, group: "scripting", run: byServer(cmdFunctionFlush),
				flags: flagWrite | flagNoScript,
				tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				name: "help", arity: 2, group: "scripting", run: cmdFunctionHelp,
				flags: flagLoading | flagStale,
			},
			{
				name: "kill", arity: 2, group: "scripting", run: byServer(cmdFunctionKill),
				flags: flagNoScript | flagAllowBusy,
				tips:  []string{"request_policy:all_shards", "response_policy:one_succeeded"},
			},
			{
				name: "list", arity: -2, group: "scripting", run: byServer(cmdFunctionList),
				flags: flagNoScript,
				tips:  []string{"nondeterministic_output_order"},
			},
			{
				name: "load", arity: -3, group: "scripting", refusal: msgNoFunctions,
				flags: flagWrite | flagDenyOOM | flagNoScript,
				tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				name: "restore", arity: -3, group: "scripting", refusal: msgNoFunctions,
				flags: flagWrite | flagDenyOOM | flagNoScript,
				tips:  []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			},
			{
				name: "stats", arity: 2, group: "scripting", run: byServer(cmdFunctionStats),
				flags: flagNoScript | flagAllowBusy,
				tips:  []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
		},
	},
	{
		name: "module", arity: -2, group: "server",
		flags: flagContainer,
		subs: []*command{
			{
				name: "help", arity: 2, group: "server", run: cmdModuleHelp,
				flags: flagLoading | flagStale,
			},
			{
				name: "list", arity: 2, group: "server", run: byServer(cmdModuleList),
				flags: flagAdmin | flagNoScript,
				tips:  []string{"nondeterministic_output_order"},
			},
			{
				name: "load", arity: -3, group: "server", refusal: msgNoModules,
				flags: flagAdmin | flagNoScript | flagNoAsyncLoading,
			},
			{
				name: "loadex", arity: -3, group: "server", refusal: msgNoModules,
				flags: flagAdmin | flagNoScript | flagNoAsyncLoading,
			},
			{
				name: "unload", arity: 3, group: "server", refusal: msgNoModules,
				flags: flagAdmin | flagNoScript | flagNoAsyncLoading,
			},
		},
	},
}
