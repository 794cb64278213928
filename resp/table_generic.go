package resp

// The commands that work on keys of any type.
var genericCommands = []command{
	{
		name: "keys", arity: 2, group: "generic", run: byServer(cmdKeys),
		spread: true,
		flags:  flagReadonly | flagDangerous,
		tips:   []string{"request_policy:all_shards", "nondeterministic_output_order"},
	},
	{
		name: "randomkey", arity: 1, quick: true, group: "generic", run: byServer(cmdRandomkey),
		spread: true,
		flags:  flagReadonly,
		tips:   []string{"request_policy:all_shards", "nondeterministic_output"},
	},
	{
		name: "scan", arity: -2, group: "generic", run: byServer(cmdScan),
		spread: true,
		flags:  flagReadonly,
		tips:   []string{"nondeterministic_output", "request_policy:special"},
	},
	{
		name: "wait", arity: 3, group: "generic", run: byServer(cmdWait),
		waits: true,
		flags: flagNoScript | flagConnection,
		tips:  []string{"request_policy:all_shards", "response_policy:agg_min"},
	},
}
