package geo

import (
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/zsets"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A geoPlace is a member that lies in a shape.
type geoPlace struct {
	member   []byte
	score    float64
	at       point
	distance float64 // from the center, in meters
}

// A geoSearch is what GEOSEARCH and its like are asked for.
type geoSearch struct {
	shape                 geoShape
	dist, hash, coord     bool
	sorted, descending    bool
	any                   bool
	count                 int64 // 0: no limit
	store                 []byte
	stores, storeDistance bool
	event                 string // of what is stored
	// Of GEOSEARCH: which words there were.
	fromMember, fromPoint, byRadius, byBox bool
}

// A geoKind is what tells commands that search apart.
type geoKind struct {
	member bool // the center is a member
	search bool // GEOSEARCH: options say where and what
	stores bool // options may say where the result is stored
}

func cmdGeoradius(x *command.Call) { georadius(x, geoKind{stores: true}) }

func cmdGeoradiusRo(x *command.Call) { georadius(x, geoKind{}) }

func cmdGeoradiusbymember(x *command.Call) { georadius(x, geoKind{member: true, stores: true}) }

func cmdGeoradiusbymemberRo(x *command.Call) { georadius(x, geoKind{member: true}) }

func cmdGeosearch(x *command.Call) {
	geosearch(x, geoKind{search: true}, &geoSearch{}, x.Args[1], x.Args[2:])
}

func cmdGeosearchstore(x *command.Call) {
	geosearch(x, geoKind{search: true, stores: true}, &geoSearch{stores: true, store: x.Args[1], event: "geosearchstore"}, x.Args[2], x.Args[3:])
}

// georadius is a search around args[2], a member, or the point at args[2] and args[3].
func georadius(x *command.Call, k geoKind) {
	geosearch(x, k, &geoSearch{event: "georadiusstore"}, x.Args[1], x.Args[2:])
}

const msgNoSuchPlace = "ERR could not decode requested zset member"

// geosearch runs a search in the sorted set at a key; rest is what follows the key.
func geosearch(x *command.Call, k geoKind, s *geoSearch, key []byte, rest [][]byte) {
	z := &x.ZSet
	if !zsets.OpenSource(x, z, key) {
		return
	}
	exists := z.Value().Exists()
	// Errors come in the order of the arguments, among them that there is no such member.
	locate := func(member []byte) string {
		score, found, err := z.Score(member)
		switch {
		case err != nil:
			return command.ErrorText(err)
		case !found:
			return msgNoSuchPlace
		}
		s.shape.center = hashOf(score).center()
		return ""
	}
	msg := ""
	switch {
	case k.search:
	case k.member && !exists:
		rest = rest[3:]
	case k.member:
		if msg = locate(rest[0]); msg == "" {
			msg = s.shape.circle(rest[1], rest[2])
		}
		rest = rest[3:]
	default:
		if s.shape.center, msg = parsePoint(rest[0], rest[1]); msg == "" {
			msg = s.shape.circle(rest[2], rest[3])
		}
		rest = rest[4:]
	}
	if msg == "" {
		msg = s.options(k, rest, func(member []byte) string {
			if !exists {
				return ""
			}
			return locate(member)
		})
	}
	if msg == "" {
		msg = s.check(k, string(x.Args[0]))
	}
	switch {
	case msg != "":
		x.Error(msg)
	case s.stores && !isKey(x, s.store):
		x.Error(command.MsgSyntax) // of two, the first would have been its place
	case !exists && s.stores:
		zsets.StoreScored(x, s.store, "", func(func([]byte, float64) bool) error { return nil })
	case !exists:
		x.Array(0)
	default:
		search(x, s)
	}
}

// isKey tells whether the table has taken an argument for a key.
func isKey(x *command.Call, arg []byte) bool {
	refs, err := x.Row.KeysOf(x.Args, nil)
	return err == nil && slices.ContainsFunc(refs, func(r command.KeyRef) bool { return string(x.Args[r.Pos]) == string(arg) })
}

// circle reads a radius and its unit; it returns an error reply, or "".
func (s *geoShape) circle(radius, unit []byte) (msg string) {
	var ok bool
	if s.radius, ok = wire.ParseFloat(radius); !ok {
		return "ERR need numeric radius"
	}
	if s.radius < 0 {
		return "ERR radius cannot be negative"
	}
	s.unit, msg = parseUnit(unit)
	return msg
}

// rectangle reads a width, a height and their unit; it returns an error reply, or "".
func (s *geoShape) rectangle(width, height, unit []byte) (msg string) {
	var ok bool
	if s.width, ok = wire.ParseFloat(width); !ok {
		return "ERR need numeric width"
	}
	if s.height, ok = wire.ParseFloat(height); !ok {
		return "ERR need numeric height"
	}
	if s.width < 0 || s.height < 0 {
		return "ERR height or width cannot be negative"
	}
	s.box = true
	s.unit, msg = parseUnit(unit)
	return msg
}

// options reads those of a search; locate makes a member the center. It returns an error
// reply, or "".
func (s *geoSearch) options(k geoKind, rest [][]byte, locate func(member []byte) string) (msg string) {
	for ; len(rest) > 0 && msg == ""; rest = rest[1:] {
		words := 0 // behind this one
		is := func(word string, n int) bool {
			words = n
			return wire.EqualFold(rest[0], word) && len(rest) > n
		}
		switch {
		case is("withdist", 0):
			s.dist = true
		case is("withhash", 0):
			s.hash = true
		case is("withcoord", 0):
			s.coord = true
		case is("any", 0):
			s.any = true
		case is("asc", 0):
			s.sorted, s.descending = true, false
		case is("desc", 0):
			s.sorted, s.descending = true, true
		case is("count", 1):
			var ok bool
			if s.count, ok = wire.ParseInt(rest[1]); !ok {
				return command.MsgNotInteger
			}
			if s.count <= 0 {
				return "ERR COUNT must be > 0"
			}
		case k.stores && !k.search && is("store", 1):
			s.store, s.stores, s.storeDistance = rest[1], true, false
		case k.stores && !k.search && is("storedist", 1):
			s.store, s.stores, s.storeDistance = rest[1], true, true
		case k.search && !s.fromPoint && is("frommember", 1):
			s.fromMember = true
			msg = locate(rest[1])
		case k.search && !s.fromMember && is("fromlonlat", 2):
			s.fromPoint = true
			s.shape.center, msg = parsePoint(rest[1], rest[2])
		case k.search && !s.byBox && is("byradius", 2):
			s.byRadius = true
			msg = s.shape.circle(rest[1], rest[2])
		case k.search && !s.byRadius && is("bybox", 3):
			s.byBox = true
			msg = s.shape.rectangle(rest[1], rest[2], rest[3])
		case k.search && k.stores && is("storedist", 0):
			s.storeDistance = true
		default:
			return command.MsgSyntax
		}
		rest = rest[words:]
	}
	return msg
}

// check returns an error reply if options do not go together, or are missing.
func (s *geoSearch) check(k geoKind, name string) string {
	switch {
	case s.stores && (s.dist || s.hash || s.coord):
		what := "STORE option in GEORADIUS"
		if k.search {
			what = "GEOSEARCHSTORE"
		}
		return "ERR " + what + " is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
	case k.search && !s.fromMember && !s.fromPoint:
		return "ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + name
	case k.search && !s.byRadius && !s.byBox:
		return "ERR exactly one of BYRADIUS and BYBOX can be specified for " + name
	case s.any && s.count == 0:
		return "ERR the ANY argument requires COUNT argument"
	}
	return ""
}

// nearest sorts places, if they are wanted in an order, and drops those that are too many.
func (s *geoSearch) nearest(places []geoPlace) []geoPlace {
	if s.sorted || s.count > 0 && !s.any {
		slices.SortStableFunc(places, func(a, b geoPlace) int {
			if s.descending {
				a, b = b, a
			}
			return cmp.Compare(a.distance, b.distance)
		})
	}
	if s.count > 0 {
		places = places[:min(int64(len(places)), s.count)]
	}
	return places
}

// manyPlaces are how many are kept before those are dropped that are not wanted.
const manyPlaces = 1 << 12

// search replies with the places that are found in x.zset, or stores them.
func search(x *command.Call, s *geoSearch) {
	var places []geoPlace
	size, fits, room := int64(0), true, true
	err := placesIn(&x.ZSet, &s.shape, func(p geoPlace) bool {
		if s.count > 0 && !s.any && int64(len(places))/2 >= max(s.count, manyPlaces) {
			places, size = s.nearest(places), 0
			for i := range places {
				size += int64(len(places[i].member)) + 6*command.ElementReply
			}
		}
		size += int64(len(p.member)) + 6*command.ElementReply
		fits, room = s.stores || x.FitsReply(size), x.Take(int64(len(p.member))+2*command.BuiltEntry)
		if fits && room {
			p.member = slices.Clone(p.member)
			places = append(places, p)
		}
		return fits && room && !(s.any && int64(len(places)) >= s.count)
	})
	switch {
	case err != nil:
		x.Fail(err)
		return
	case !fits:
		x.RefuseByLimit(x.OverOutputBuffer())
		return
	case !room:
		x.RefuseByLimit(command.MsgNoMemory)
		return
	}
	places = s.nearest(places)
	if s.stores {
		zsets.StoreScored(x, s.store, s.event, func(yield func(member []byte, score float64) bool) error {
			for _, p := range places {
				score := p.score
				if s.storeDistance {
					score = p.distance / s.shape.unit
				}
				if !yield(p.member, score) {
					break
				}
			}
			return nil
		})
		return
	}
	x.Array(len(places))
	for _, p := range places {
		place(x, s, p)
	}
}

// place appends a place, with what is asked for.
func place(x *command.Call, s *geoSearch, p geoPlace) {
	n := 1
	for _, wanted := range [...]bool{s.dist, s.hash, s.coord} {
		if wanted {
			n++
		}
	}
	if n > 1 {
		x.Array(n)
	}
	x.Bulk(p.member)
	if s.dist {
		replyDistance(x.Writer, p.distance/s.shape.unit)
	}
	if s.hash {
		x.Int(int64(p.score))
	}
	if s.coord {
		replyPoint(x.Writer, p.at)
	}
}
