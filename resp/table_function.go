package resp

// The commands about functions and modules, of which there are none.
var functionCommands = []command{
	{
		name: "fcall", arity: -3, group: "scripting", since: "7.0.0", refusal: msgNoFunctions,
		flags:      flagNoScript | flagStale | flagSkipMonitor | flagNoMandatoryKeys,
		summary:    "Calls a function.",
		complexity: "That of the function.",
		keys:       []keySpec{{flags: "RW access update", notes: "What the function does is not known", index: 2, keynum: true, first: 1, step: 1}},
		args: []argument{
			{name: "function", kind: argString},
			{name: "numkeys", kind: argInteger},
			{name: "key", kind: argKey, keySpec: 1, optional: true, multiple: true},
			{name: "arg", kind: argString, optional: true, multiple: true},
		},
	},
	{
		name: "fcall_ro", arity: -3, group: "scripting", since: "7.0.0", refusal: msgNoFunctions,
		flags:      flagReadonly | flagNoScript | flagStale | flagSkipMonitor | flagNoMandatoryKeys,
		summary:    "Calls a function that only reads.",
		complexity: "That of the function.",
		keys:       []keySpec{{flags: "RO access", notes: "What the function does is not known", index: 2, keynum: true, first: 1, step: 1}},
		args: []argument{
			{name: "function", kind: argString},
			{name: "numkeys", kind: argInteger},
			{name: "key", kind: argKey, keySpec: 1, optional: true, multiple: true},
			{name: "arg", kind: argString, optional: true, multiple: true},
		},
	},
	{
		name: "function", arity: -2, group: "scripting", since: "7.0.0",
		flags:      flagContainer,
		summary:    "Groups the commands about functions.",
		complexity: "Depends on the subcommand.",
		subs: []*command{
			{
				name: "delete", arity: 3, group: "scripting", since: "7.0.0", run: cmdFunctionDelete,
				flags:      flagWrite | flagNoScript,
				summary:    "Deletes a library.",
				complexity: "O(1)",
				tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
				args: []argument{
					{name: "library-name", kind: argString},
				},
			},
			{
				name: "dump", arity: 2, group: "scripting", since: "7.0.0", refusal: msgNoFunctions,
				flags:      flagNoScript,
				summary:    "Returns all libraries in one string; refused, since there are none.",
				complexity: "O(1)",
			},
			{
				name: "flush", arity: -2, group: "scripting", since: "7.0.0", run: cmdFunctionFlush,
				flags:      flagWrite | flagNoScript,
				summary:    "Deletes all libraries.",
				complexity: "O(1)",
				tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
				args: []argument{
					{name: "async", kind: argOneOf, optional: true, args: tokens("ASYNC", "SYNC")},
				},
			},
			{
				name: "help", arity: 2, group: "scripting", since: "7.0.0", run: cmdFunctionHelp,
				flags:      flagLoading | flagStale,
				summary:    "Lists the subcommands, with one line for each.",
				complexity: "O(1)",
			},
			{
				name: "kill", arity: 2, group: "scripting", since: "7.0.0", run: cmdFunctionKill,
				flags:      flagNoScript | flagAllowBusy,
				summary:    "Ends the function that runs.",
				complexity: "O(1)",
				tips:       []string{"request_policy:all_shards", "response_policy:one_succeeded"},
			},
			{
				name: "list", arity: -2, group: "scripting", since: "7.0.0", run: cmdFunctionList,
				flags:      flagNoScript,
				summary:    "Lists the libraries.",
				complexity: "O(1)",
				tips:       []string{"nondeterministic_output_order"},
				args: []argument{
					{name: "library-name-pattern", kind: argString, token: "LIBRARYNAME", optional: true},
					{name: "withcode", kind: argPureToken, token: "WITHCODE", optional: true},
				},
			},
			{
				name: "load", arity: -3, group: "scripting", since: "7.0.0", refusal: msgNoFunctions,
				flags:      flagWrite | flagDenyOOM | flagNoScript,
				summary:    "Makes a library known; refused, since there are none.",
				complexity: "O(1)",
				tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
				args: []argument{
					{name: "replace", kind: argPureToken, token: "REPLACE", optional: true},
					{name: "function-code", kind: argString},
				},
			},
			{
				name: "restore", arity: -3, group: "scripting", since: "7.0.0", refusal: msgNoFunctions,
				flags:      flagWrite | flagDenyOOM | flagNoScript,
				summary:    "Brings libraries back from a dump; refused, since there are none.",
				complexity: "O(1)",
				tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
				args: []argument{
					{name: "serialized-value", kind: argString},
					{name: "policy", kind: argOneOf, optional: true, args: tokens("FLUSH", "APPEND", "REPLACE")},
				},
			},
			{
				name: "stats", arity: 2, group: "scripting", since: "7.0.0", run: cmdFunctionStats,
				flags:      flagNoScript | flagAllowBusy,
				summary:    "Tells which function runs, and what there is.",
				complexity: "O(1)",
				tips:       []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			},
		},
	},
	{
		name: "module", arity: -2, group: "server", since: "4.0.0",
		flags:      flagContainer,
		summary:    "Groups the commands about modules.",
		complexity: "Depends on the subcommand.",
		subs: []*command{
			{
				name: "help", arity: 2, group: "server", since: "5.0.0", run: cmdModuleHelp,
				flags:      flagLoading | flagStale,
				summary:    "Lists the subcommands, with one line for each.",
				complexity: "O(1)",
			},
			{
				name: "list", arity: 2, group: "server", since: "4.0.0", run: cmdModuleList,
				flags:      flagAdmin | flagNoScript,
				summary:    "Lists the modules.",
				complexity: "O(1)",
				tips:       []string{"nondeterministic_output_order"},
			},
			{
				name: "load", arity: -3, group: "server", since: "4.0.0", refusal: msgNoModules,
				flags:      flagAdmin | flagNoScript | flagNoAsyncLoading,
				summary:    "Loads a module; refused, since there are none.",
				complexity: "O(1)",
				args: []argument{
					{name: "path", kind: argString},
					{name: "arg", kind: argString, optional: true, multiple: true},
				},
			},
			{
				name: "loadex", arity: -3, group: "server", since: "7.0.0", refusal: msgNoModules,
				flags:      flagAdmin | flagNoScript | flagNoAsyncLoading,
				summary:    "Loads a module; refused, since there are none.",
				complexity: "O(1)",
				args: []argument{
					{name: "path", kind: argString},
					{name: "configs", kind: argBlock, token: "CONFIG", optional: true, multiple: true, multipleToken: true, args: []argument{
						{name: "name", kind: argString},
						{name: "value", kind: argString},
					}},
					{name: "args", kind: argBlock, token: "ARGS", optional: true, multiple: true, args: []argument{
						{name: "arg", kind: argString},
					}},
				},
			},
			{
				name: "unload", arity: 3, group: "server", since: "4.0.0", refusal: msgNoModules,
				flags:      flagAdmin | flagNoScript | flagNoAsyncLoading,
				summary:    "Unloads a module; refused, since there are none.",
				complexity: "O(1)",
				args: []argument{
					{name: "name", kind: argString},
				},
			},
		},
	},
}
