package load

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/ringside-kv/ringside/ring"
)

// A Profile is the load of one node's ranges by cell, with the bytes that the node stores in each cell.
// It does not change once it is made.
type Profile struct{ cells [Cells]cellLoad }

type cellLoad struct {
	cellRate
	stored int64
}

// Profile returns the rates as they are now. stored returns the bytes that the node stores in a range.
func (m *Meter) Profile(stored func(ring.Range) int64) *Profile {
	p := new(Profile)
	for i := range p.cells {
		start := ring.Token(i) << cellShift
		p.cells[i].stored = stored(ring.Range{Start: start, End: start + cellSize})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range p.cells {
		p.cells[i].cellRate = m.rates[i]
	}
	return p
}

// Sustained returns the load that was there in all profiles of one node, which are at least one: the
// least of each cell. Stored bytes are those of the last profile.
func Sustained(profiles ...*Profile) *Profile {
	p := *profiles[len(profiles)-1]
	for _, other := range profiles {
		for i := range p.cells {
			c, o := &p.cells[i], &other.cells[i]
			c.ops, c.bytes = min(c.ops, o.ops), min(c.bytes, o.bytes)
		}
	}
	return &p
}

// Total returns the rate of all cells.
func (p *Profile) Total() Rate {
	var sum Rate
	for i := range p.cells {
		sum.add(p.cells[i].rate(), 1)
	}
	return sum
}

// Numbers of the binary form are integers: rates in sixteenths.
const scale = 16

// MarshalBinary implements [encoding.BinaryMarshaler]: for each cell with any load or data the distance from
// the one before, operations, bytes and stored bytes, as varints.
func (p *Profile) MarshalBinary() ([]byte, error) {
	var b []byte
	last := -1
	for i := range p.cells {
		c := &p.cells[i]
		if *c == (cellLoad{}) {
			continue
		}
		b = binary.AppendUvarint(b, uint64(i-last))
		for _, n := range []float64{float64(c.ops) * scale, float64(c.bytes) * scale, float64(c.stored)} {
			b = binary.AppendUvarint(b, uint64(math.Round(max(n, 0))))
		}
		last = i
	}
	return b, nil
}

// ErrMalformed says that bytes are no profile.
var ErrMalformed = errors.New("malformed load profile")

// UnmarshalBinary implements [encoding.BinaryUnmarshaler].
func (p *Profile) UnmarshalBinary(b []byte) error {
	*p = Profile{}
	for last := -1; len(b) > 0; {
		var n [4]uint64
		for i := range n {
			v, size := binary.Uvarint(b)
			if size <= 0 || v > 1<<53 {
				return ErrMalformed
			}
			n[i], b = v, b[size:]
		}
		if n[0] == 0 || n[0] >= uint64(Cells-last) {
			return ErrMalformed
		}
		last += int(n[0])
		p.cells[last] = cellLoad{cellRate{float32(float64(n[1]) / scale), float32(float64(n[2]) / scale)}, int64(n[3])}
	}
	return nil
}

// A share says how much of each cell a node serves, and of how much it has a copy.
type share struct{ served, held [Cells]float32 }

// shares returns the shares of all nodes of a placement.
func shares(p *ring.Placement) map[string]*share {
	all := make(map[string]*share)
	for row := range p.Rows() {
		for node := range row.Copies() {
			s := all[node]
			if s == nil {
				s = new(share)
				all[node] = s
			}
			for cell, part := range cellsOf(row.Range) {
				s.held[cell] += float32(part)
				if node == row.Primary {
					s.served[cell] += float32(part)
				}
			}
		}
	}
	return all
}

// of returns the cost and the stored bytes of a range that a node serves.
func (p *Profile) of(s *share, r ring.Range) (cost float64, stored float64) {
	for cell, part := range cellsOf(r) {
		c := &p.cells[cell]
		if served := float64(s.served[cell]); served > 0 {
			cost += c.rate().Cost() * min(part/served, 1)
		}
		if held := float64(s.held[cell]); held > 0 {
			stored += float64(c.stored) * min(part/held, 1)
		}
	}
	return cost, stored
}
