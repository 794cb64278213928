package geo

import (
	"math"

	"github.com/ringside-kv/ringside/resp/trig"
)

// A geohash is a cell of the globe: longitude and latitude halved so often that each has
// steps bits, which lie in turn in a number, latitude first. Members of a sorted set have that
// number, with geoSteps bits of each, as their score.
type geohash struct {
	bits  uint64
	steps uint8
}

const (
	geoSteps = 26

	// What is north and south of this is not in the square of the Mercator projection.
	maxLongitude = 180.0
	maxLatitude  = 85.05112878

	// earthRadius is that of Redis, in meters.
	earthRadius = 6372797.560856
)

// A point is a place on the globe, in degrees.
type point struct{ longitude, latitude float64 }

// valid tells whether a point lies where places may lie.
func (p point) valid() bool {
	return p.longitude >= -maxLongitude && p.longitude <= maxLongitude && p.latitude >= -maxLatitude && p.latitude <= maxLatitude
}

// hash returns the cell that a valid point lies in.
func (p point) hash(steps uint8) geohash { return p.hashWithin(maxLatitude, steps) }

// hashWithin is hash where latitudes go up to another one.
func (p point) hashWithin(most float64, steps uint8) geohash {
	lat := (p.latitude + most) / (2 * most) * float64(uint64(1)<<steps)
	lon := (p.longitude + maxLongitude) / (2 * maxLongitude) * float64(uint64(1)<<steps)
	return geohash{interleave(uint32(int64(lat))) | interleave(uint32(int64(lon)))<<1, steps}
}

// interleave puts a zero before each bit.
func interleave(n uint32) uint64 {
	b := uint64(n)
	b = (b | b<<16) & 0x0000ffff0000ffff
	b = (b | b<<8) & 0x00ff00ff00ff00ff
	b = (b | b<<4) & 0x0f0f0f0f0f0f0f0f
	b = (b | b<<2) & 0x3333333333333333
	return (b | b<<1) & 0x5555555555555555
}

// deinterleave undoes it, whatever is between.
func deinterleave(b uint64) uint32 {
	b &= 0x5555555555555555
	b = (b | b>>1) & 0x3333333333333333
	b = (b | b>>2) & 0x0f0f0f0f0f0f0f0f
	b = (b | b>>4) & 0x00ff00ff00ff00ff
	b = (b | b>>8) & 0x0000ffff0000ffff
	return uint32(b | b>>16)
}

// An area is all between two points, the corners with the least and the greatest
// coordinates.
type area struct{ min, max point }

func (h geohash) area() area {
	n := float64(uint64(1) << h.steps)
	side := func(i uint32, most float64) (low, high float64) {
		return -most + float64(float64(i)*1/n*(2*most)), -most + float64((float64(i)+1)*1/n*(2*most))
	}
	var a area
	a.min.latitude, a.max.latitude = side(deinterleave(h.bits), maxLatitude)
	a.min.longitude, a.max.longitude = side(deinterleave(h.bits>>1), maxLongitude)
	return a
}

// center returns the point in the middle, which is where a place is shown to be.
func (h geohash) center() point {
	a := h.area()
	return point{
		longitude: min(max((a.min.longitude+a.max.longitude)/2, -maxLongitude), maxLongitude),
		latitude:  min(max((a.min.latitude+a.max.latitude)/2, -maxLatitude), maxLatitude),
	}
}

// score returns the cell's number with geoSteps bits, the first of the places in it.
func (h geohash) score() uint64 { return h.bits << (2*geoSteps - 2*h.steps) }

// hashOf returns the cell that a score means.
func hashOf(score float64) geohash {
	if score >= 1<<63 {
		return geohash{uint64(int64(score-1<<63)) ^ 1<<63, geoSteps}
	}
	return geohash{uint64(int64(score)), geoSteps}
}

// text is the geohash as it is written elsewhere, in 11 letters: there latitudes go up to the
// poles. The last letter stands for bits that scores do not have.
func (h geohash) text() string {
	const letters = "0123456789bcdefghjkmnpqrstuvwxyz"
	bits := h.center().hashWithin(90, geoSteps).bits
	var b [11]byte
	for i := range 10 {
		b[i] = letters[bits>>(2*geoSteps-5*(i+1))&31]
	}
	b[10] = letters[0]
	return string(b[:])
}

// distance is how far two points are from each other, in meters, along a great circle of a
// ball: the haversine formula, with the operations that Redis makes of it, so that the last bit is
// mostly the same. The conversions keep the compiler from fusing a product and a sum.
func distance(a, b point) float64 {
	aLat, bLat := radians(a.latitude), radians(b.latitude)
	u := trig.Sin((bLat - aLat) / 2)
	v := trig.Sin((radians(b.longitude) - radians(a.longitude)) / 2)
	return 2 * earthRadius * trig.Asin(math.Sqrt(float64(u*u)+float64(trig.Cos(aLat)*trig.Cos(bLat)*v*v)))
}

func radians(degrees float64) float64 { return degrees * (math.Pi / 180) }

func degrees(radians float64) float64 { return radians / (math.Pi / 180) }
