package keys

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// SortCommands are the commands that sort.
var SortCommands = []command.Row{
	{
		Name: "sort", Arity: -2, Group: "generic", Run: cmdSort,
		Flags: command.FlagWrite | command.FlagDenyOOM | command.FlagSorts | command.FlagDangerous,
		Keys:  []command.KeySpec{{Flags: "RO access", Index: 1, Step: 1}, {Flags: "RO access", Notes: "Of BY and GET: they follow from the elements", Unknown: true, Find: command.NoKey}, {Flags: "OW update", Notes: "Of STORE, which may stand anywhere", Unknown: true, Find: sortDestination}},
	},
	{
		Name: "sort_ro", Arity: -2, Group: "generic", Run: cmdSortRo,
		Flags: command.FlagReadonly | command.FlagSorts | command.FlagDangerous,
		Keys:  []command.KeySpec{{Flags: "RO access", Index: 1, Step: 1}, {Flags: "RO access", Notes: "Of BY and GET: they follow from the elements", Unknown: true, Find: command.NoKey}},
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
