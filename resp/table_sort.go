package resp

import "github.com/ringside-kv/ringside/resp/wire"

// The commands that sort.
var sortCommands = []command{
	{
		name: "sort", arity: -2, group: "generic", run: cmdSort,
		flags: flagWrite | flagDenyOOM | flagSorts | flagDangerous,
		keys:  []keySpec{{flags: "RO access", index: 1, step: 1}, {flags: "RO access", notes: "Of BY and GET: they follow from the elements", unknown: true, find: noKey}, {flags: "OW update", notes: "Of STORE, which may stand anywhere", unknown: true, find: sortDestination}},
	},
	{
		name: "sort_ro", arity: -2, group: "generic", run: cmdSortRo,
		flags: flagReadonly | flagSorts | flagDangerous,
		keys:  []keySpec{{flags: "RO access", index: 1, step: 1}, {flags: "RO access", notes: "Of BY and GET: they follow from the elements", unknown: true, find: noKey}},
	},
}

// sortDestination is where SORT's destination is named: by the last STORE.
func sortDestination(args [][]byte) (at int) {
	for i := 2; i < len(args); i++ {
		switch {
		case wire.EqualFold(args[i], "limit"):
			i += 2
		case wire.EqualFold(args[i], "get"), wire.EqualFold(args[i], "by"):
			i++
		case wire.EqualFold(args[i], "store") && i+1 < len(args):
			at = i + 1
		}
	}
	return at
}
