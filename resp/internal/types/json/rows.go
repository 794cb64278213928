package json

import "github.com/ringside-kv/ringside/resp/internal/command"

// Commands are the commands on JSON values.
var Commands = []command.Row{
	{
		Name: "json.arrappend", Arity: -4, Group: "json", Run: cmdArrappend,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "json.arrindex", Arity: -4, Group: "json", Run: cmdArrindex,
		Flags: command.FlagReadonly | command.FlagModule,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "json.arrinsert", Arity: -5, Group: "json", Run: cmdArrinsert,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "json.arrlen", Arity: -2, Group: "json", Run: cmdArrlen,
		Flags: command.FlagReadonly | command.FlagModule,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "json.arrpop", Arity: -2, Group: "json", Run: cmdArrpop,
		Frees: true,
		Flags: command.FlagWrite | command.FlagModule,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "json.arrtrim", Arity: 5, Group: "json", Run: cmdArrtrim,
		Frees: true,
		Flags: command.FlagWrite | command.FlagModule,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "json.clear", Arity: -2, Group: "json", Run: cmdClear,
		Frees: true,
		Flags: command.FlagWrite | command.FlagModule,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "json.del", Arity: -2, Group: "json", Run: cmdDel,
		Frees: true,
		Flags: command.FlagWrite | command.FlagModule,
		Keys:  command.OneKey("RW access delete"),
	},
	{
		Name: "json.forget", Arity: -2, Group: "json", Run: cmdDel,
		Frees: true,
		Flags: command.FlagWrite | command.FlagModule,
		Keys:  command.OneKey("RW access delete"),
	},
	{
		Name: "json.get", Arity: -2, Group: "json", Run: cmdGet,
		Flags: command.FlagReadonly | command.FlagModule,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "json.merge", Arity: -4, Group: "json", Run: cmdMerge,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "json.mget", Arity: -3, Group: "json", Run: cmdMget,
		Merge: command.MergeArrays,
		Flags: command.FlagReadonly | command.FlagModule,
		Keys:  []command.KeySpec{{Flags: "RO access", Index: 1, Last: -2, Step: 1}},
	},
	{
		Name: "json.mset", Arity: -4, Group: "json", Run: cmdMset,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule,
		Keys:  []command.KeySpec{{Flags: "RW access update", Index: 1, Last: -1, Step: 3}},
	},
	{
		Name: "json.numincrby", Arity: 4, Group: "json", Run: cmdNumincrby,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "json.nummultby", Arity: 4, Group: "json", Run: cmdNummultby,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "json.objkeys", Arity: -2, Group: "json", Run: cmdObjkeys,
		Flags: command.FlagReadonly | command.FlagModule,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "json.objlen", Arity: -2, Group: "json", Run: cmdObjlen,
		Flags: command.FlagReadonly | command.FlagModule,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "json.resp", Arity: -2, Group: "json", Run: cmdResp,
		Flags: command.FlagReadonly | command.FlagModule,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "json.set", Arity: -4, Group: "json", Run: cmdSet,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "json.strappend", Arity: -3, Group: "json", Run: cmdStrappend,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "json.strlen", Arity: -2, Group: "json", Run: cmdStrlen,
		Flags: command.FlagReadonly | command.FlagModule,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "json.toggle", Arity: 3, Group: "json", Run: cmdToggle,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagModule,
		Keys:  command.OneKey("RW access update"),
	},
	{
		Name: "json.type", Arity: -2, Group: "json", Run: cmdType,
		Flags: command.FlagReadonly | command.FlagModule,
		Keys:  command.OneKey("RO access"),
	},
}
