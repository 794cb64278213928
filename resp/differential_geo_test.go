package resp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

func TestGeoCommandsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
SET text x
GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
GEOADD g 13.361389 38.115556
GEOADD g 13.361389 38.115556 a b
GEOADD g 181 38 a
GEOADD g 13 86 a
GEOADD g x 38 a
GEOADD g 13 x a
GEOADD g NX 1 1 Palermo
GEOADD g XX CH 13.361390 38.115556 Palermo
GEOADD g CH 13.361389 38.115556 Palermo 2 2 new
GEOADD g NX XX 1 1 a
GEOADD g NX NX NX
GEOADD g GT 1 1 a
GEOADD text 1 1 a
GEOADD g 180 85.05112878 edge1 -180 -85.05112878 edge2
ZSCORE g Palermo
ZSCORE g edge1
ZSCORE g edge2
GEODIST g Palermo Catania
GEODIST g Palermo Catania km
GEODIST g Palermo Catania MI
GEODIST g Palermo Catania ft
GEODIST g Palermo Catania cm
GEODIST g Palermo Catania m x
GEODIST g Palermo nope
GEODIST g nope Catania
GEODIST nope a b
GEODIST nope a b cm
GEODIST text a b
GEODIST g Palermo Palermo
GEODIST g edge1 edge2
GEOHASH g Palermo Catania nope
GEOHASH g
GEOHASH nope a
GEOHASH text a
GEOHASH g edge1 edge2
GEOPOS g Palermo Catania nope
GEOPOS g
GEOPOS nope a
GEOPOS text a
GEOPOS g edge1 edge2
GEORADIUS g 15 37 200 km
GEORADIUS g 15 37 200 km WITHDIST
GEORADIUS g 15 37 200 km WITHCOORD
GEORADIUS g 15 37 200 km WITHHASH
GEORADIUS g 15 37 200 km WITHDIST WITHCOORD WITHHASH ASC
GEORADIUS g 15 37 200 km COUNT 1
GEORADIUS g 15 37 200 km COUNT 1 ANY
GEORADIUS g 15 37 200 km ANY
GEORADIUS g 15 37 200 km COUNT 0
GEORADIUS g 15 37 200 km COUNT -1
GEORADIUS g 15 37 200 km COUNT x
GEORADIUS g 15 37 200 km COUNT
GEORADIUS g 15 37 200 km DESC COUNT 1
GEORADIUS g 15 37 200 km DESC
GEORADIUS g 15 37 200 km ASC DESC
GEORADIUS g 15 37 x km
GEORADIUS g 15 37 -1 km
GEORADIUS g 15 37 200 cm
GEORADIUS g 15 97 200 km
GEORADIUS g x 37 200 km
GEORADIUS g 15 37 200 km BOGUS
GEORADIUS nope 15 37 200 km
GEORADIUS nope 15 37 200 km BOGUS
GEORADIUS text 15 37 200 km
GEORADIUS text x 37 200 km
GEORADIUS g 15 37 200 km STORE out
ZRANGE out 0 -1 WITHSCORES
GEORADIUS g 15 37 200 km STOREDIST out
ZRANGE out 0 -1
GEORADIUS g 15 37 200 km STORE out STOREDIST out2
EXISTS out2
GEORADIUS g 15 37 200 km STOREDIST out STORE out2
ZRANGE out2 0 -1 WITHSCORES
GEORADIUS g 15 37 200 km STORE out STORE out3
GEORADIUS g 15 37 200 km STOREDIST out STOREDIST out4
GEORADIUS g 15 37 200 km STORE out STOREDIST out STORE out5
GEORADIUSBYMEMBER g Catania 200 km STORE out STORE out6
GEORADIUS g 15 37 200 km STORE store STORE out7
EXISTS out3 out4 out5 out6 out7 store
COMMAND GETKEYS GEORADIUS g 15 37 200 km STOREDIST store
GEORADIUS g 15 37 200 km STORE out WITHDIST
GEORADIUS g 15 37 200 km STORE
GEORADIUS g 15 37 1 m STORE out
EXISTS out
SET out x
GEORADIUS nope 15 37 1 m STORE out
EXISTS out
GEORADIUS_RO g 15 37 200 km
GEORADIUS_RO g 15 37 200 km STORE out
GEORADIUSBYMEMBER g Catania 200 km
GEORADIUSBYMEMBER g Catania 200 km WITHDIST WITHCOORD WITHHASH DESC
GEORADIUSBYMEMBER g nope 200 km
GEORADIUSBYMEMBER g Catania x km
GEORADIUSBYMEMBER nope Catania x km
GEORADIUSBYMEMBER nope Catania 2 km BOGUS
GEORADIUSBYMEMBER nope Catania 2 km STORE out
GEORADIUSBYMEMBER text Catania 2 km
GEORADIUSBYMEMBER g Catania 200 km STORE out
ZRANGE out 0 -1
GEORADIUSBYMEMBER_RO g Catania 200 km
GEORADIUSBYMEMBER_RO g Catania 200 km STORE x
GEOSEARCH g FROMMEMBER Catania BYRADIUS 200 km
GEOSEARCH g FROMMEMBER Catania BYRADIUS 200 km ASC WITHDIST WITHCOORD WITHHASH
GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km ASC COUNT 3
GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km ASC COUNT 3 ANY
GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km ANY
GEOSEARCH g FROMLONLAT 15 37 BYBOX -400 400 km
GEOSEARCH g FROMLONLAT 15 37 BYBOX x 400 km
GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 x km
GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 cm
GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km BYRADIUS 1 km
GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 1 km BYRADIUS 200 km
GEOSEARCH g FROMLONLAT 15 37 FROMMEMBER Catania BYRADIUS 1 km
GEOSEARCH g FROMMEMBER nope BYRADIUS 1 km
GEOSEARCH g FROMMEMBER Catania ASC WITHDIST
GEOSEARCH g BYRADIUS 1 km ASC WITHDIST
geosearch g BYBOX 1 1 km ASC
GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 1 km STORE x
GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 1 km STOREDIST
GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 1
GEOSEARCH nope FROMLONLAT 15 37 BYRADIUS 1 km
GEOSEARCH nope FROMMEMBER x BYRADIUS 1 km
GEOSEARCH nope FROMMEMBER x BYRADIUS x km
GEOSEARCH text FROMMEMBER x BYRADIUS 1 km
GEOSEARCHSTORE out g FROMMEMBER Catania BYRADIUS 200 km
ZRANGE out 0 -1 WITHSCORES
GEOSEARCHSTORE out g FROMMEMBER Catania BYBOX 400 400 km STOREDIST
ZRANGE out 0 -1
GEOSEARCHSTORE out g FROMMEMBER Catania BYBOX 400 400 km COUNT 1 DESC
ZRANGE out 0 -1 WITHSCORES
GEOSEARCHSTORE out g FROMMEMBER Catania BYBOX 400 400 km WITHDIST
GEOSEARCHSTORE out g FROMMEMBER nope BYBOX 400 400 km
GEOSEARCHSTORE out nope FROMMEMBER x BYBOX 400 400 km
EXISTS out
GEOSEARCHSTORE g g FROMMEMBER Catania BYRADIUS 200 km
ZRANGE g 0 -1
ZADD odd -5 a 1e300 b inf c 0.5 d 4503599627370496 e 9e18 f 1e19 h
GEOPOS odd a d e f
GEOHASH odd a d e f
GEODIST odd d e
`)
	})
}

// A geoMaker makes up places and looks for them.
type geoMaker struct{ commandMaker }

// place is anywhere, or in a small area.
func (g geoMaker) place() []string {
	lon, lat := g.rnd.Float64()*360-180, g.rnd.Float64()*170-85
	if g.rnd.IntN(2) == 0 {
		lon, lat = 10+g.rnd.Float64(), 50+g.rnd.Float64()
	}
	return []string{fmt.Sprint(lon), fmt.Sprint(lat)}
}

func (g geoMaker) add() []string {
	add, group := []string{"GEOADD", g.pick("g", "g", "h")}, g.rnd.IntN(40)
	for range 1 + g.rnd.IntN(100) {
		add = append(append(add, g.place()...), fmt.Sprint("p", group, "-", g.rnd.IntN(1000)))
	}
	return add
}

func (g geoMaker) search() (args []string) {
	radius := fmt.Sprint(g.rnd.Float64() * []float64{1, 100, 2000, 30000}[g.rnd.IntN(4)])
	if g.rnd.IntN(30) == 0 {
		radius = "0"
	}
	unit, at := g.pick("km", "km", "m", "mi", "ft", "KM"), g.place()
	switch g.rnd.IntN(3) {
	case 0:
		args = []string{"GEORADIUS", g.pick("g", "h"), at[0], at[1], radius, unit}
	case 1:
		args = []string{"GEOSEARCH", g.pick("g", "h"), "FROMLONLAT", at[0], at[1], "BYRADIUS", radius, unit}
	case 2:
		args = []string{"GEOSEARCH", g.pick("g", "h"), "FROMLONLAT", at[0], at[1], "BYBOX", radius, fmt.Sprint(g.rnd.Float64() * 1000), unit}
	}
	for _, option := range []string{"WITHDIST", "WITHCOORD", "WITHHASH", "ASC", "DESC"} {
		if g.rnd.IntN(3) == 0 {
			args = append(args, option)
		}
	}
	if g.rnd.IntN(3) == 0 {
		args = append(args, "COUNT", fmt.Sprint(1+g.rnd.IntN(50)))
		if g.rnd.IntN(2) == 0 {
			args = append(args, "ANY")
		}
	}
	return args
}

// command is any of the family, also such that stores what it finds.
func (g geoMaker) command() []string {
	member := func() string { return fmt.Sprint("p", g.rnd.IntN(40), "-", g.rnd.IntN(1000)) }
	switch g.rnd.IntN(10) {
	case 0, 1:
		return g.add()
	case 2:
		return []string{g.pick("GEOPOS", "GEOHASH"), g.pick("g", "h", "text"), member(), member()}
	case 3:
		return []string{"GEODIST", g.pick("g", "h"), member(), member(), g.pick("m", "km", "ft", "mi", "cm")}
	case 4:
		return []string{"GEORADIUSBYMEMBER", g.pick("g", "h", "text"), member(), "500", "km", "ASC", "STORE", "out"}
	case 5:
		at := g.place()
		return []string{"GEOSEARCHSTORE", "out", g.pick("g", "h"), "FROMLONLAT", at[0], at[1], "BYRADIUS", "900", "km"}
	case 6:
		return []string{"ZREM", g.pick("g", "h"), member(), member()}
	}
	return g.search()
}

// Places spread over the globe, and some in a small area, are found alike, in the same order
// where none is asked for.
func TestRandomGeoSearchesAnswerAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	seed := randomtest.Seed(t)
	searches := randomtest.Length(600, 50)
	differential(t, func(d *differ) {
		g := geoMaker{commandMaker{rand.New(rand.NewPCG(seed, 0))}}
		for range 40 {
			d.do(g.add()...)
		}
		for range searches {
			d.do(g.search()...)
		}
		all := []string{}
		for _, e := range d.do("ZRANGE", "g", "0", "300").Elems {
			all = append(all, e.Text)
		}
		d.do(append([]string{"GEOPOS", "g"}, all...)...)
		d.do(append([]string{"GEOHASH", "g"}, all...)...)
		for i := range all[1:] {
			d.do("GEODIST", "g", all[i], all[i+1], g.pick("m", "km", "ft", "mi"))
		}
	})
}
