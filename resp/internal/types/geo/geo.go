package geo

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/zsets"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

// point reads a longitude and a latitude; it returns an error reply, or "".
func parsePoint(lon, lat []byte) (p point, msg string) {
	var ok bool
	if p.longitude, ok = wire.ParseFloat(lon); !ok {
		return p, command.MsgNotFloat
	}
	if p.latitude, ok = wire.ParseFloat(lat); !ok {
		return p, command.MsgNotFloat
	}
	if !p.valid() {
		return p, fmt.Sprintf("ERR invalid longitude,latitude pair %s,%s", shownDegrees(p.longitude), shownDegrees(p.latitude))
	}
	return p, ""
}

// shownDegrees is a number as C's %f has it.
func shownDegrees(f float64) string {
	text := strconv.FormatFloat(f, 'f', 6, 64)
	return strings.ToLower(strings.TrimPrefix(text, "+"))
}

// geoUnits are how many meters units have.
var geoUnits = map[string]float64{"m": 1, "km": 1000, "ft": 0.3048, "mi": 1609.34}

func parseUnit(word []byte) (meters float64, msg string) {
	for unit, meters := range geoUnits {
		if wire.EqualFold(word, unit) {
			return meters, ""
		}
	}
	return 0, "ERR unsupported unit provided. please use M, KM, FT, MI"
}

func cmdGeoadd(x *command.Call) {
	var c zsets.ScoreCondition
	rest, changed := x.Args[2:], false
options:
	for ; len(rest) > 0; rest = rest[1:] {
		switch {
		case wire.EqualFold(rest[0], "nx"):
			c.OnlyNew = true
		case wire.EqualFold(rest[0], "xx"):
			c.OnlyOld = true
		case wire.EqualFold(rest[0], "ch"):
			changed = true
		default:
			break options
		}
	}
	if len(rest)%3 != 0 || len(rest) == 0 || c.OnlyNew && c.OnlyOld {
		x.Error(command.MsgSyntax)
		return
	}
	scores := make([]float64, len(rest)/3)
	for i := range scores {
		p, msg := parsePoint(rest[3*i], rest[3*i+1])
		if msg != "" {
			x.Error(msg)
			return
		}
		if !x.FieldFits(rest[3*i+2]) {
			return
		}
		scores[i] = float64(p.hash(geoSteps).score())
	}
	zsets.SetScores(x, &c, scores, func(i int) []byte { return rest[3*i+2] }, changed)
}

func cmdGeodist(x *command.Call) {
	unit := 1.0
	if len(x.Args) > 4 {
		var msg string
		if unit, msg = parseUnit(x.Args[4]); len(x.Args) > 5 {
			msg = command.MsgSyntax
		}
		if msg != "" {
			x.Error(msg)
			return
		}
	}
	z, ok := zsets.WholeZSet(x)
	if !ok {
		return
	}
	if !z.Value().Exists() {
		x.Null()
		return
	}
	a, there, err := z.Score(x.Args[2])
	if err != nil {
		x.Fail(err)
		return
	}
	b, also, err := z.Score(x.Args[3])
	switch {
	case err != nil:
		x.Fail(err)
	case !there || !also:
		x.Null()
	default:
		replyDistance(x.Writer, distance(hashOf(a).center(), hashOf(b).center())/unit)
	}
}

// replyDistance appends a distance, with four digits.
func replyDistance(r *wire.Writer, d float64) { r.Bulk(strconv.AppendFloat(nil, d, 'f', 4, 64)) }

// replyPoint appends a longitude and a latitude.
func replyPoint(r *wire.Writer, p point) {
	r.Array(2)
	for _, degrees := range [...]float64{p.longitude, p.latitude} {
		text := wire.AppendLongDouble(nil, wire.NewLongDouble().SetFloat64(degrees))
		if r.Proto == 3 {
			r.Buf = append(append(append(r.Buf, ','), text...), '\r', '\n')
		} else {
			r.Bulk(text)
		}
	}
}

func cmdGeohash(x *command.Call) {
	eachPlace(x, func(h geohash) { x.BulkString(h.text()) }, x.Null)
}

func cmdGeopos(x *command.Call) {
	eachPlace(x, func(h geohash) { replyPoint(x.Writer, h.center()) }, x.NullArray)
}

// eachPlace replies with something for each of args[2:].
func eachPlace(x *command.Call, show func(geohash), missing func()) {
	z, ok := zsets.WholeZSet(x)
	if !ok {
		return
	}
	x.Elements(func() error {
		x.Array(len(x.Args) - 2)
		for _, member := range x.Args[2:] {
			score, found, err := z.Score(member)
			switch {
			case err != nil:
				return err
			case found:
				show(hashOf(score))
			default:
				missing()
			}
		}
		return nil
	})
}

// placesIn calls yield for the members that lie in a shape, with how far in meters they are
// from its center, in the order of cells.
func placesIn(z *collection.ZSet, s *geoShape, yield func(p geoPlace) bool) error {
	more := true
	for _, cell := range s.cells() {
		from := collection.RankKey(nil, float64(cell.score()), nil)
		next := geohash{cell.bits + 1, cell.steps}
		to := collection.RankKey(nil, float64(next.score()), nil)
		err := z.Range(from, to, false, func(member []byte, score float64) bool {
			at := hashOf(score).center()
			if d, ok := s.distance(at); ok {
				more = yield(geoPlace{member: member, score: score, at: at, distance: d})
			}
			return more
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}
