package geo

import (
	"math"

	"github.com/ringside-kv/ringside/resp/trig"
)

// A geoShape is a circle or a rectangle around a point.
type geoShape struct {
	center point
	// unit is how many meters the lengths are measured in.
	unit          float64
	box           bool
	radius        float64
	width, height float64
}

// distance returns how far a point in the shape is from its center, in meters; false for one
// that is not in it.
func (s *geoShape) distance(p point) (float64, bool) {
	if !s.box {
		d := distance(s.center, p)
		return d, d <= s.radius*s.unit
	}
	along := distance(p, point{s.center.longitude, p.latitude})
	across := distance(p, point{p.longitude, s.center.latitude})
	if along > s.width*s.unit/2 || across > s.height*s.unit/2 {
		return 0, false
	}
	return distance(s.center, p), true
}

// bounds is an area that the shape lies in.
func (s *geoShape) bounds() area {
	width, height := s.radius*s.unit, s.radius*s.unit
	if s.box {
		width, height = s.unit*(s.width/2), s.unit*(s.height/2)
	}
	up := degrees(height / earthRadius)
	top := degrees(width / earthRadius / trig.Cos(radians(s.center.latitude+up)))
	bottom := degrees(width / earthRadius / trig.Cos(radians(s.center.latitude-up)))
	aside := top
	if s.center.latitude < 0 {
		aside = bottom
	}
	return area{
		point{s.center.longitude - aside, s.center.latitude - up},
		point{s.center.longitude + aside, s.center.latitude + up},
	}
}

// steps returns of how many steps cells are such that the shape lies in one and its eight
// neighbours, probably.
func (s *geoShape) steps() uint8 {
	const mercator = 20037726.37 // half the width of the map, in meters
	radius := s.radius
	if s.box {
		radius = math.Sqrt(float64(s.width/2*(s.width/2)) + float64(s.height/2*(s.height/2)))
	}
	radius *= s.unit
	if radius == 0 {
		return geoSteps
	}
	steps := 1
	for radius < mercator {
		radius *= 2
		steps++
	}
	steps -= 2
	if math.Abs(s.center.latitude) > 66 {
		steps--
		if math.Abs(s.center.latitude) > 80 {
			steps--
		}
	}
	return uint8(min(max(steps, 1), geoSteps))
}

// neighbour returns the cell so many cells to the east and to the north, around the map.
func (h geohash) neighbour(east, north int) geohash {
	x, y := h.bits&0xaaaaaaaaaaaaaaaa, h.bits&0x5555555555555555
	lon, lat := uint64(0xaaaaaaaaaaaaaaaa)>>(64-2*h.steps), uint64(0x5555555555555555)>>(64-2*h.steps)
	switch {
	case east > 0:
		x = (x + lat + 1) & lon
	case east < 0:
		x = (x | lat) - (lat + 1)
		x &= lon
	}
	switch {
	case north > 0:
		y = (y + lon + 1) & lat
	case north < 0:
		y = (y | lon) - (lon + 1)
		y &= lat
	}
	return geohash{x | y, h.steps}
}

// cells returns the cells that the shape may have places in, in the order in which Redis looks
// into them.
func (s *geoShape) cells() []geohash {
	bounds, steps := s.bounds(), s.steps()
	own := s.center.hash(steps)
	if steps > 1 && (own.neighbour(0, 1).area().max.latitude < bounds.max.latitude ||
		own.neighbour(0, -1).area().min.latitude > bounds.min.latitude ||
		own.neighbour(1, 0).area().max.longitude < bounds.max.longitude ||
		own.neighbour(-1, 0).area().min.longitude > bounds.min.longitude) {
		steps--
		own = s.center.hash(steps)
	}
	a := own.area()
	cells := []geohash{own}
	for _, way := range [...]struct{ east, north int }{{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}} {
		if steps >= 2 && (way.north < 0 && a.min.latitude < bounds.min.latitude ||
			way.north > 0 && a.max.latitude > bounds.max.latitude ||
			way.east < 0 && a.min.longitude < bounds.min.longitude ||
			way.east > 0 && a.max.longitude > bounds.max.longitude) {
			continue
		}
		// Of a few large cells, the neighbours may be the same.
		if next := own.neighbour(way.east, way.north); next != cells[len(cells)-1] {
			cells = append(cells, next)
		}
	}
	return cells
}
