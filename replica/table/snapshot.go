package table

import (
	"fmt"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/ring"
)

// snapshotVersion is that of a state's binary form, which lies in the snapshots of
// all nodes. Older ones can still be read: version 1 has no Moves, 2 no Comparisons,
// 3 no Switch, 4 no LoadBalance, 5 no seats, 6 no CellSettings, 7 no databases, 8 no policies of databases and
// 9 no agreed values. A state is written in the oldest version from 3 on that has all of it, so that an older build can read it.
const (
	snapshotVersion         = 10
	unvaluedSnapshot   byte = 9
	unruledSnapshot    byte = 8
	unnumberedSnapshot byte = 7
	untunedSnapshot    byte = 6
	unseatedSnapshot   byte = 5
	unbalancedSnapshot byte = 4
	unswitchedSnapshot byte = 3
)

// MarshalBinary implements [encoding.BinaryMarshaler]. States that are alike have the
// same bytes.
func (s *State) MarshalBinary() ([]byte, error) {
	c := writer()
	version := byte(snapshotVersion)
	switch {
	case s.values != nil:
	case s.policies != nil:
		version = unvaluedSnapshot
	case s.databases > 1:
		version = unruledSnapshot
	case s.cluster.Tuned():
		version = unnumberedSnapshot
	case s.seats != nil:
		version = untunedSnapshot
	case s.load.Since != 0:
		version = unseatedSnapshot
	case s.cluster.Switch == (Switch{}):
		version = unswitchedSnapshot
	default:
		version = unbalancedSnapshot
	}
	c.buf = append(c.buf, version)
	flat := make([]Row, 0, s.rows.n)
	for row := range s.rows.all() {
		flat = append(flat, *row)
	}
	s.draft(s.index).code(c, &flat, version)
	return c.buf, nil
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. It takes memory in
// proportion to the bytes that it is given, and refuses a state that contradicts
// itself.
func (s *State) UnmarshalBinary(data []byte) error {
	if len(data) == 0 || data[0] == 0 || data[0] > snapshotVersion {
		return fmt.Errorf("%w: no table of a version up to %d", ErrMalformed, snapshotVersion)
	}
	c := reader(data[1:])
	d := new(State).draft(0)
	var flat []Row
	d.code(c, &flat, data[0])
	if err := c.finish(); err != nil {
		return err
	}
	d.rows = chunked(flat, d.mark)
	if err := d.Check(); err != nil {
		return err
	}
	s.cluster, s.index, s.basis = d.cluster, d.index, d.basis
	s.lastHandoff, s.lastLineage = d.lastHandoff, d.lastLineage
	s.nodes, s.handoffs, s.rows, s.comparisons = d.nodes, d.handoffs, d.rows, d.comparisons
	s.load, s.seats, s.databases, s.policies, s.values = d.load, d.seats, d.databases, d.policies, d.values
	return nil
}

func (d *draft) code(c *codec, flat *[]Row, version byte) {
	founded := d.Founded()
	c.flag(&founded)
	c.number(&d.index)
	if !founded {
		return
	}
	d.cluster.code(c)
	if !d.Founded() {
		c.fail("a cluster of generation 0")
	}
	if version > 1 {
		d.cluster.Moves.code(c)
	}
	if version > unswitchedSnapshot {
		d.cluster.Switch.code(c)
	}
	if version > unbalancedSnapshot {
		d.load.code(c)
	}
	if version > untunedSnapshot {
		d.cluster.Strategy.Cells.code(c)
		d.cluster.Founding.Cells.code(c)
	}
	seated := d.seats != nil || version == untunedSnapshot
	if version > untunedSnapshot {
		c.flag(&seated)
	}
	if seated {
		d.codeSeats(c)
	}
	if version > unnumberedSnapshot {
		if c.integer(&d.databases); d.databases > database.Limit {
			c.fail("a number of databases that cannot be")
		}
	}
	if version > unruledSnapshot {
		codePolicies(c, &d.policies, d.Databases())
	}
	if version > unvaluedSnapshot {
		codeValues(c, &d.values)
	}
	c.number(&d.basis)
	c.number(&d.lastHandoff)
	c.number(&d.lastLineage)
	list(c, &d.nodes, 18, func(n *Node) { n.code(c) })
	list(c, &d.handoffs, 6, func(h **Handoff) {
		if c.reading {
			*h = new(Handoff)
		}
		(*h).code(c)
	})
	before := uint64(0)
	list(c, flat, 10, func(r *Row) {
		far := uint64(r.Range.Start) - before
		c.number(&far)
		if before += far; before >= 1<<32 {
			c.fail("a start beyond the circle")
		}
		r.Range.Start = ring.Token(before)
		r.code(c)
	})
	for i := range *flat {
		(*flat)[i].Range.End = (*flat)[(i+1)%len(*flat)].Range.Start
	}
	if version > 2 {
		d.comparisons.code(c)
	}
}

func (d *draft) codeSeats(c *codec) {
	seats := new(ring.Seats)
	if !c.reading {
		*seats = *d.seats
	}
	list(c, &seats.Nodes, 1, c.text)
	list(c, &seats.Free, 1, c.integer)
	d.seats = seats
}
