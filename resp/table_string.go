package resp

// The commands on strings.
var stringCommands = []command{
	{
		name: "append", arity: 3, group: "string", run: cmdAppend,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW insert"),
	},
	{
		name: "decr", arity: 2, group: "string", run: cmdDecr,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW access update"),
	},
	{
		name: "decrby", arity: 3, group: "string", run: cmdDecrby,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW access update"),
	},
	{
		name: "get", arity: 2, group: "string", run: cmdGet,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO access"),
	},
	{
		name: "getdel", arity: 2, group: "string", run: cmdGetdel,
		flags: flagWrite | flagFast,
		frees: true,
		keys:  oneKey("RW access delete"),
	},
	{
		name: "getex", arity: -2, group: "string", run: cmdGetex,
		flags: flagWrite | flagFast,
		keys:  []keySpec{{flags: "RW access update", index: 1, step: 1, notes: "Writes because it may change the expiry."}},
	},
	{
		name: "getrange", arity: 4, group: "string", run: cmdGetrange,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "getset", arity: 3, group: "string", run: cmdGetset,
		flags: flagWrite | flagDenyOOM | flagFast,

		keys: oneKey("RW access update"),
	},
	{
		name: "incr", arity: 2, group: "string", run: cmdIncr,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW access update"),
	},
	{
		name: "incrby", arity: 3, group: "string", run: cmdIncrby,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW access update"),
	},
	{
		name: "incrbyfloat", arity: 3, group: "string", run: cmdIncrbyfloat,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("RW access update"),
	},
	{
		name: "lcs", arity: -3, group: "string", run: cmdLcs,
		flags: flagReadonly,
		keys:  []keySpec{{flags: "RO access", index: 1, last: 1, step: 1}},
	},
	{
		name: "mget", arity: -2, group: "string", run: cmdMget,
		merge: mergeArrays,
		flags: flagReadonly | flagFast,
		tips:  []string{"request_policy:multi_shard"},
		keys:  allKeys("RO access"),
	},
	{
		name: "mset", arity: -3, group: "string", run: cmdMset,
		merge: mergeOK,
		flags: flagWrite | flagDenyOOM,
		tips:  []string{"request_policy:multi_shard", "response_policy:all_succeeded"},
		keys:  []keySpec{{flags: "OW update", index: 1, last: -1, step: 2}},
	},
	{
		name: "msetnx", arity: -3, group: "string", run: cmdMsetnx,
		flags: flagWrite | flagDenyOOM,
		tips:  []string{"request_policy:multi_shard", "response_policy:agg_min"},
		keys:  []keySpec{{flags: "OW insert", index: 1, last: -1, step: 2}},
	},
	{
		name: "psetex", arity: 4, quick: true, group: "string", run: cmdPsetex,
		flags: flagWrite | flagDenyOOM,
		keys:  oneKey("OW update"),
	},
	{
		name: "set", arity: -3, quick: true, group: "string", run: cmdSet,
		flags: flagWrite | flagDenyOOM,
		keys: []keySpec{{
			flags: "RW access update variable_flags", index: 1, step: 1, vary: setKeyFlags,
			notes: "Reads only with the argument `GET`.",
		}},
	},
	{
		name: "setex", arity: 4, quick: true, group: "string", run: cmdSetex,
		flags: flagWrite | flagDenyOOM,
		keys:  oneKey("OW update"),
	},
	{
		name: "setnx", arity: 3, group: "string", run: cmdSetnx,
		flags: flagWrite | flagDenyOOM | flagFast,
		keys:  oneKey("OW insert"),
	},
	{
		name: "setrange", arity: 4, group: "string", run: cmdSetrange,
		flags: flagWrite | flagDenyOOM,
		keys:  oneKey("RW update"),
	},
	{
		name: "strlen", arity: 2, group: "string", run: cmdStrlen,
		flags: flagReadonly | flagFast,
		keys:  oneKey("RO"),
	},
	{
		name: "substr", arity: 4, group: "string", run: cmdSubstr,
		flags: flagReadonly,

		keys: oneKey("RO access"),
	},
}
