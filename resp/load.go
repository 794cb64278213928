package resp

import (
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/load"
)

// The load on this node's ranges, as package ring/load measures it.

// countLoad counts a request that ran, with a reply of so many bytes, for the ranges of its
// keys. A request on several keys counts once for each key.
func (c *conn) countLoad(r *request, reply int) {
	if !r.touches || r.msg != "" {
		return
	}
	size := len(r.raw) + reply
	if r.keyAt > 0 {
		c.srv.meter.Count(r.place.Token(), size)
		return
	}
	if first, end := int(r.placed[0]), int(r.placed[1]); first < end && end <= len(c.touched) {
		for _, p := range c.touched[first:end] {
			c.srv.meter.Count(p.Token(), size/(end-first))
		}
	}
}

// Load returns the load on this node's ranges.
func (s *Server) Load() status.Load {
	l := status.Load{Rate: s.meter.Total()}
	hottest, rate, ok := s.meter.Hottest(s.ownRanges)
	if ok {
		l.Hottest, l.HottestRate = hottest.String(), rate
	}
	return l
}

// LoadProfile returns the load on this node's ranges by cell.
func (s *Server) LoadProfile() *load.Profile {
	return s.meter.Profile(func(r ring.Range) int64 {
		_, size := s.store.RangeSize(uint16(r.Start>>16), uint16((r.End-1)>>16))
		return size
	})
}

// ownRanges goes over the ranges that this node serves.
func (s *Server) ownRanges(yield func(ring.Range) bool) {
	routes := s.routes.Load()
	if routes == nil {
		yield(ring.Whole)
		return
	}
	for row := range routes.Placement.Rows() {
		if row.Primary == routes.Self && !yield(row.Range) {
			return
		}
	}
}
