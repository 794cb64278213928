package resp

import "github.com/ringside-kv/ringside/resp/wire"

// The commands on places, which are members of sorted sets.
var geoCommands = []command{
	{
		name: "geoadd", arity: -5, group: "geo", run: cmdGeoadd,
		flags: flagWrite | flagDenyOOM,
		keys:  oneKey("RW update"),
	},
	{
		name: "geodist", arity: -4, quick: true, group: "geo", run: cmdGeodist,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "geohash", arity: -2, group: "geo", run: cmdGeohash,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "geopos", arity: -2, group: "geo", run: cmdGeopos,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "georadius", arity: -6, group: "geo", run: cmdGeoradius,
		flags: flagWrite | flagDenyOOM,

		keys: []keySpec{{flags: "RO access", index: 1, step: 1}, {flags: "OW update", keyword: "STORE", from: 6, step: 1, find: geoDestination}, {flags: "OW update", keyword: "STOREDIST", from: 6, step: 1, find: noKey}},
	},
	{
		name: "georadius_ro", arity: -6, group: "geo", run: cmdGeoradiusRo,
		flags: flagReadonly,

		keys: oneKey("RO access"),
	},
	{
		name: "georadiusbymember", arity: -5, group: "geo", run: cmdGeoradiusbymember,
		flags: flagWrite | flagDenyOOM,

		keys: []keySpec{{flags: "RO access", index: 1, step: 1}, {flags: "OW update", keyword: "STORE", from: 5, step: 1, find: geoDestination}, {flags: "OW update", keyword: "STOREDIST", from: 5, step: 1, find: noKey}},
	},
	{
		name: "georadiusbymember_ro", arity: -5, group: "geo", run: cmdGeoradiusbymemberRo,
		flags: flagReadonly,

		keys: oneKey("RO access"),
	},
	{
		name: "geosearch", arity: -7, group: "geo", run: cmdGeosearch,
		flags: flagReadonly,
		keys:  oneKey("RO access"),
	},
	{
		name: "geosearchstore", arity: -8, group: "geo", run: cmdGeosearchstore,
		flags: flagWrite | flagDenyOOM,
		keys:  []keySpec{{flags: "OW update", index: 1, step: 1}, {flags: "RO access", index: 2, step: 1}},
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
