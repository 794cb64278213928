package geo

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Commands are the commands on places, which are members of sorted sets.
var Commands = []command.Row{
	{
		Name: "geoadd", Arity: -5, Group: "geo", Run: cmdGeoadd,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  command.OneKey("RW update"),
	},
	{
		Name: "geodist", Arity: -4, Quick: true, Group: "geo", Run: cmdGeodist,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "geohash", Arity: -2, Group: "geo", Run: cmdGeohash,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "geopos", Arity: -2, Group: "geo", Run: cmdGeopos,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "georadius", Arity: -6, Group: "geo", Run: cmdGeoradius,
		Flags: command.FlagWrite | command.FlagDenyOOM,

		Keys: []command.KeySpec{{Flags: "RO access", Index: 1, Step: 1}, {Flags: "OW update", Keyword: "STORE", From: 6, Step: 1, Find: geoDestination}, {Flags: "OW update", Keyword: "STOREDIST", From: 6, Step: 1, Find: command.NoKey}},
	},
	{
		Name: "georadius_ro", Arity: -6, Group: "geo", Run: cmdGeoradiusRo,
		Flags: command.FlagReadonly,

		Keys: command.OneKey("RO access"),
	},
	{
		Name: "georadiusbymember", Arity: -5, Group: "geo", Run: cmdGeoradiusbymember,
		Flags: command.FlagWrite | command.FlagDenyOOM,

		Keys: []command.KeySpec{{Flags: "RO access", Index: 1, Step: 1}, {Flags: "OW update", Keyword: "STORE", From: 5, Step: 1, Find: geoDestination}, {Flags: "OW update", Keyword: "STOREDIST", From: 5, Step: 1, Find: command.NoKey}},
	},
	{
		Name: "georadiusbymember_ro", Arity: -5, Group: "geo", Run: cmdGeoradiusbymemberRo,
		Flags: command.FlagReadonly,

		Keys: command.OneKey("RO access"),
	},
	{
		Name: "geosearch", Arity: -7, Group: "geo", Run: cmdGeosearch,
		Flags: command.FlagReadonly,
		Keys:  command.OneKey("RO access"),
	},
	{
		Name: "geosearchstore", Arity: -8, Group: "geo", Run: cmdGeosearchstore,
		Flags: command.FlagWrite | command.FlagDenyOOM,
		Keys:  []command.KeySpec{{Flags: "OW update", Index: 1, Step: 1}, {Flags: "RO access", Index: 2, Step: 1}},
	},
}

// geoDestination is where GEORADIUS and GEORADIUSBYMEMBER store: what the last STORE or
// STOREDIST names.
func geoDestination(args [][]byte) (at int) {
	for i := 5; i+1 < len(args); i++ {
		if wire.EqualFold(args[i], "store") || wire.EqualFold(args[i], "storedist") {
			i++
			at = i
		}
	}
	return at
}
