package resp

// The commands on places, which are members of sorted sets.
var geoCommands = []command{
	{
		name: "geoadd", arity: -5, group: "geo", since: "3.2.0", run: cmdGeoadd,
		flags:      flagWrite | flagDenyOOM,
		summary:    "Adds places on the globe to a sorted set, or moves them.",
		complexity: "O(log(N)) for each place with N the number of members in the set.",
		history:    [][2]string{{"6.2.0", "Takes `CH`, `NX` and `XX`."}},
		keys:       oneKey("RW update"),
		args: []argument{
			keyArg,
			{name: "condition", kind: argOneOf, since: "6.2.0", optional: true, args: tokens("NX", "XX")},
			{name: "change", kind: argPureToken, token: "CH", since: "6.2.0", optional: true},
			{name: "longitude_latitude_member", kind: argBlock, multiple: true, args: []argument{
				{name: "longitude", kind: argDouble},
				{name: "latitude", kind: argDouble},
				{name: "member", kind: argString},
			}},
		},
	},
	{
		name: "geodist", arity: -4, group: "geo", since: "3.2.0", run: cmdGeodist,
		flags:      flagReadonly,
		summary:    "Returns how far two places of a sorted set are from each other.",
		complexity: "O(1)",
		keys:       oneKey("RO access"),
		args: []argument{
			keyArg,
			{name: "member1", kind: argString},
			{name: "member2", kind: argString},
			{name: "unit", kind: argOneOf, optional: true, args: tokens("M", "KM", "FT", "MI")},
		},
	},
	{
		name: "geohash", arity: -2, group: "geo", since: "3.2.0", run: cmdGeohash,
		flags:      flagReadonly,
		summary:    "Returns places of a sorted set as geohashes.",
		complexity: "O(N) with N the number of members asked for.",
		keys:       oneKey("RO access"),
		args:       []argument{keyArg, {name: "member", kind: argString, multiple: true}},
	},
	{
		name: "geopos", arity: -2, group: "geo", since: "3.2.0", run: cmdGeopos,
		flags:      flagReadonly,
		summary:    "Returns the longitude and latitude of places of a sorted set.",
		complexity: "O(N) with N the number of members asked for.",
		keys:       oneKey("RO access"),
		args:       []argument{keyArg, {name: "member", kind: argString, multiple: true}},
	},
	{
		name: "georadius", arity: -6, group: "geo", since: "3.2.0", run: cmdGeoradius,
		flags:           flagWrite | flagDenyOOM,
		summary:         "Returns or stores the places of a sorted set within a distance from a point.",
		complexity:      "O(N+log(M)) with N the number of places around that circle and M of members.",
		deprecatedSince: "6.2.0",
		replacedBy:      "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument",
		history:         [][2]string{{"6.2.0", "Takes `ANY` behind `COUNT`."}, {"7.0.0", "Takes units in capitals."}},
		keys:            []keySpec{{flags: "RO access", index: 1, step: 1}, {flags: "OW update", keyword: "STORE", from: 6, step: 1, find: geoDestination}, {flags: "OW update", keyword: "STOREDIST", from: 6, step: 1, find: noKey}},
		args: []argument{
			keyArg,
			{name: "longitude", kind: argDouble},
			{name: "latitude", kind: argDouble},
			{name: "radius", kind: argDouble},
			{name: "unit", kind: argOneOf, args: tokens("M", "KM", "FT", "MI")},
			{name: "withcoord", kind: argPureToken, token: "WITHCOORD", optional: true},
			{name: "withdist", kind: argPureToken, token: "WITHDIST", optional: true},
			{name: "withhash", kind: argPureToken, token: "WITHHASH", optional: true},
			{name: "count", kind: argBlock, optional: true, args: []argument{
				{name: "count", kind: argInteger, token: "COUNT"},
				{name: "any", kind: argPureToken, token: "ANY", since: "6.2.0", optional: true},
			}},
			{name: "order", kind: argOneOf, optional: true, args: tokens("ASC", "DESC")},
			{name: "key", kind: argKey, token: "STORE", keySpec: 2, optional: true},
			{name: "key", kind: argKey, token: "STOREDIST", keySpec: 3, optional: true},
		},
	},
	{
		name: "georadius_ro", arity: -6, group: "geo", since: "3.2.10", run: cmdGeoradiusRo,
		flags:           flagReadonly,
		summary:         "Returns the places of a sorted set within a distance from a point.",
		complexity:      "O(N+log(M)) with N the number of places around that circle and M of members.",
		deprecatedSince: "6.2.0",
		replacedBy:      "`GEOSEARCH` with the `BYRADIUS` argument",
		history:         [][2]string{{"6.2.0", "Takes `ANY` behind `COUNT`."}},
		keys:            oneKey("RO access"),
		args: []argument{
			keyArg,
			{name: "longitude", kind: argDouble},
			{name: "latitude", kind: argDouble},
			{name: "radius", kind: argDouble},
			{name: "unit", kind: argOneOf, args: tokens("M", "KM", "FT", "MI")},
			{name: "withcoord", kind: argPureToken, token: "WITHCOORD", optional: true},
			{name: "withdist", kind: argPureToken, token: "WITHDIST", optional: true},
			{name: "withhash", kind: argPureToken, token: "WITHHASH", optional: true},
			{name: "count", kind: argBlock, optional: true, args: []argument{
				{name: "count", kind: argInteger, token: "COUNT"},
				{name: "any", kind: argPureToken, token: "ANY", since: "6.2.0", optional: true},
			}},
			{name: "order", kind: argOneOf, optional: true, args: tokens("ASC", "DESC")},
		},
	},
	{
		name: "georadiusbymember", arity: -5, group: "geo", since: "3.2.0", run: cmdGeoradiusbymember,
		flags:           flagWrite | flagDenyOOM,
		summary:         "Returns or stores the places of a sorted set within a distance from one of them.",
		complexity:      "O(N+log(M)) with N the number of places around that circle and M of members.",
		deprecatedSince: "6.2.0",
		replacedBy:      "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments",
		history:         [][2]string{{"7.0.0", "Takes units in capitals."}},
		keys:            []keySpec{{flags: "RO access", index: 1, step: 1}, {flags: "OW update", keyword: "STORE", from: 5, step: 1, find: geoDestination}, {flags: "OW update", keyword: "STOREDIST", from: 5, step: 1, find: noKey}},
		args: []argument{
			keyArg,
			{name: "member", kind: argString},
			{name: "radius", kind: argDouble},
			{name: "unit", kind: argOneOf, args: tokens("M", "KM", "FT", "MI")},
			{name: "withcoord", kind: argPureToken, token: "WITHCOORD", optional: true},
			{name: "withdist", kind: argPureToken, token: "WITHDIST", optional: true},
			{name: "withhash", kind: argPureToken, token: "WITHHASH", optional: true},
			{name: "count", kind: argBlock, optional: true, args: []argument{
				{name: "count", kind: argInteger, token: "COUNT"},
				{name: "any", kind: argPureToken, token: "ANY", optional: true},
			}},
			{name: "order", kind: argOneOf, optional: true, args: tokens("ASC", "DESC")},
			{name: "key", kind: argKey, token: "STORE", keySpec: 2, optional: true},
			{name: "key", kind: argKey, token: "STOREDIST", keySpec: 3, optional: true},
		},
	},
	{
		name: "georadiusbymember_ro", arity: -5, group: "geo", since: "3.2.10", run: cmdGeoradiusbymemberRo,
		flags:           flagReadonly,
		summary:         "Returns the places of a sorted set within a distance from one of them.",
		complexity:      "O(N+log(M)) with N the number of places around that circle and M of members.",
		deprecatedSince: "6.2.0",
		replacedBy:      "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments",
		keys:            oneKey("RO access"),
		args: []argument{
			keyArg,
			{name: "member", kind: argString},
			{name: "radius", kind: argDouble},
			{name: "unit", kind: argOneOf, args: tokens("M", "KM", "FT", "MI")},
			{name: "withcoord", kind: argPureToken, token: "WITHCOORD", optional: true},
			{name: "withdist", kind: argPureToken, token: "WITHDIST", optional: true},
			{name: "withhash", kind: argPureToken, token: "WITHHASH", optional: true},
			{name: "count", kind: argBlock, optional: true, args: []argument{
				{name: "count", kind: argInteger, token: "COUNT"},
				{name: "any", kind: argPureToken, token: "ANY", optional: true},
			}},
			{name: "order", kind: argOneOf, optional: true, args: tokens("ASC", "DESC")},
		},
	},
	{
		name: "geosearch", arity: -7, group: "geo", since: "6.2.0", run: cmdGeosearch,
		flags:      flagReadonly,
		summary:    "Returns the places of a sorted set in a circle or a rectangle.",
		complexity: "O(N+log(M)) with N the number of places around that area and M of members.",
		history:    [][2]string{{"7.0.0", "Takes units in capitals."}},
		keys:       oneKey("RO access"),
		args: []argument{
			keyArg,
			{name: "from", kind: argOneOf, args: []argument{
				{name: "member", kind: argString, token: "FROMMEMBER"},
				{name: "longitude_latitude", kind: argBlock, token: "FROMLONLAT", args: []argument{
					{name: "longitude", kind: argDouble},
					{name: "latitude", kind: argDouble},
				}},
			}},
			{name: "by", kind: argOneOf, args: []argument{
				{name: "circle", kind: argBlock, args: []argument{
					{name: "radius", kind: argDouble, token: "BYRADIUS"},
					{name: "unit", kind: argOneOf, args: tokens("M", "KM", "FT", "MI")},
				}},
				{name: "box", kind: argBlock, args: []argument{
					{name: "width", kind: argDouble, token: "BYBOX"},
					{name: "height", kind: argDouble},
					{name: "unit", kind: argOneOf, args: tokens("M", "KM", "FT", "MI")},
				}},
			}},
			{name: "order", kind: argOneOf, optional: true, args: tokens("ASC", "DESC")},
			{name: "count", kind: argBlock, optional: true, args: []argument{
				{name: "count", kind: argInteger, token: "COUNT"},
				{name: "any", kind: argPureToken, token: "ANY", optional: true},
			}},
			{name: "withcoord", kind: argPureToken, token: "WITHCOORD", optional: true},
			{name: "withdist", kind: argPureToken, token: "WITHDIST", optional: true},
			{name: "withhash", kind: argPureToken, token: "WITHHASH", optional: true},
		},
	},
	{
		name: "geosearchstore", arity: -8, group: "geo", since: "6.2.0", run: cmdGeosearchstore,
		flags:      flagWrite | flagDenyOOM,
		summary:    "Stores the places of a sorted set in a circle or a rectangle.",
		complexity: "O(N+log(M)) with N the number of places around that area and M of members.",
		history:    [][2]string{{"7.0.0", "Takes units in capitals."}},
		keys:       []keySpec{{flags: "OW update", index: 1, step: 1}, {flags: "RO access", index: 2, step: 1}},
		args: []argument{
			{name: "destination", kind: argKey, keySpec: 1},
			{name: "source", kind: argKey, keySpec: 2},
			{name: "from", kind: argOneOf, args: []argument{
				{name: "member", kind: argString, token: "FROMMEMBER"},
				{name: "longitude_latitude", kind: argBlock, token: "FROMLONLAT", args: []argument{
					{name: "longitude", kind: argDouble},
					{name: "latitude", kind: argDouble},
				}},
			}},
			{name: "by", kind: argOneOf, args: []argument{
				{name: "circle", kind: argBlock, args: []argument{
					{name: "radius", kind: argDouble, token: "BYRADIUS"},
					{name: "unit", kind: argOneOf, args: tokens("M", "KM", "FT", "MI")},
				}},
				{name: "box", kind: argBlock, args: []argument{
					{name: "width", kind: argDouble, token: "BYBOX"},
					{name: "height", kind: argDouble},
					{name: "unit", kind: argOneOf, args: tokens("M", "KM", "FT", "MI")},
				}},
			}},
			{name: "order", kind: argOneOf, optional: true, args: tokens("ASC", "DESC")},
			{name: "count", kind: argBlock, optional: true, args: []argument{
				{name: "count", kind: argInteger, token: "COUNT"},
				{name: "any", kind: argPureToken, token: "ANY", optional: true},
			}},
			{name: "storedist", kind: argPureToken, token: "STOREDIST", optional: true},
		},
	},
}

// geoDestination is where GEORADIUS and GEORADIUSBYMEMBER store: what the last STORE or
// STOREDIST names.
func geoDestination(args [][]byte) (at int) {
	for i := 5; i+1 < len(args); i++ {
		if equalFold(args[i], "store") || equalFold(args[i], "storedist") {
			i++
			at = i
		}
	}
	return at
}
