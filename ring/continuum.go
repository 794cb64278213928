package ring

import (
	"fmt"
	"slices"
)

// MaxPoints is how many points all nodes may have together. It bounds the memory
// that a slip in a setting takes: a range is about 100 bytes.
const MaxPoints = 1 << 22

// CheckPoints tells whether a [Continuum] may have so many points. Its error is
// [ErrPoints].
func CheckPoints(n int) error { return Input{}.CheckPoints(n) }

// CheckPoints is [CheckPoints] with the bound of the input.
func (in Input) CheckPoints(n int) error {
	most := MaxPoints
	if in.MostPoints > 0 {
		most = min(most, in.MostPoints)
	}
	if n > most {
		return fmt.Errorf("%w: %d of all nodes together, %d are allowed", ErrPoints, n, most)
	}
	return nil
}

// A Continuum is the points of all nodes on the circle: the first point at or after
// a token owns it, and past the last point the first. It is what ketama and virtual
// nodes have in common.
type Continuum struct {
	nodes  []string
	points []uint64 // token in the high half, index of the node in the low one
	zone   []int32  // of each node; nil if no two are in one zone
}

// NewContinuum starts a continuum of nodes, which must be ordered the way in which
// equal points are: the earlier node owns.
func NewContinuum(nodes []string) *Continuum { return &Continuum{nodes: nodes} }

// InZones has the copies of a range lie in different zones as far as there are some: the next node on the
// circle is passed over if its zone has a copy.
func (c *Continuum) InZones(members []Member) {
	z := ZonesOf(members)
	if z == nil {
		return
	}
	c.zone = make([]int32, len(c.nodes))
	for i, node := range c.nodes {
		c.zone[i] = z.Of(node)
	}
}

// Add puts a point of the i-th node on the continuum.
func (c *Continuum) Add(node int, point Token) {
	c.points = append(c.points, uint64(point)<<32|uint64(uint32(node)))
}

// Rows returns the ranges between the points, each with the next distinct nodes as
// its copies. Neighbours with the same copies are one range. With wholeSlots the
// bounds are moved up to the next slot, which moves no key under [SlotToken]. The
// continuum must have a point.
func (c *Continuum) Rows(copies int, wholeSlots bool) []Row {
	slices.Sort(c.points)
	next := c.successors(copies)
	n := len(c.points)
	width := len(next) / n
	copiesOf := func(i int) []int32 { return next[i*width : (i+1)*width] }
	bound := func(i int) Token { // the first token past those of the i-th point
		end := Token(c.points[i]>>32) + 1
		if wholeSlots {
			end = (end + slotSize - 1) &^ (slotSize - 1)
		}
		return end
	}

	rows := make([]Row, 0, n)
	from := make([]int32, 0, n) // the point that a row's copies are those of
	start := bound(n - 1)
	for i := range n {
		end := bound(i)
		switch last := len(rows) - 1; {
		case last >= 0 && end == start:
			// Of points with one bound the first owns all that is before it.
		case last >= 0 && slices.Equal(copiesOf(i), copiesOf(int(from[last]))):
			rows[last].Range.End = end
		default:
			rows = append(rows, Row{Range: Range{start, end}})
			from = append(from, int32(i))
		}
		start = end
	}
	if last := len(rows) - 1; last > 0 && slices.Equal(copiesOf(int(from[last])), copiesOf(int(from[0]))) {
		rows[0].Range.Start = rows[last].Range.Start
		rows, from = rows[:last], from[:last]
	}

	names := make([]string, 0, len(rows)*(width-1))
	for i := range rows {
		owners := copiesOf(int(from[i]))
		at := len(names)
		for _, o := range owners[1:] {
			names = append(names, c.nodes[o])
		}
		rows[i].Primary, rows[i].Backups = c.nodes[owners[0]], names[at:len(names):len(names)]
	}
	if len(rows) == 1 {
		rows[0].Range = Whole
	}
	if rows[0].Range.Wraps() { // to its place in the order of the tokens
		first := rows[0]
		copy(rows, rows[1:])
		rows[len(rows)-1] = first
	}
	return rows
}

// successors lists for each point the first distinct nodes from it on, itself first:
// width entries a point, as many as copies or as there are nodes with points. With zones
// they are chosen from all of the nodes in that order by [Spread].
//
// The list of a point is its own node, followed by the list of the next point
// without that node; going around backwards from any point's true list gives all
// lists in one turn.
func (c *Continuum) successors(copies int) []int32 {
	n := len(c.points)
	node := func(i int) int32 { return int32(uint32(c.points[i])) }
	most := copies // nodes of the list
	if c.zone != nil {
		most = len(c.nodes)
	}
	var list []int32
	for i := 0; i < n && len(list) < most; i++ {
		if o := node(i); !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	width := min(len(list), copies)
	all := make([]int32, n*width)
	for i := n - 1; i >= 0; i-- {
		at := slices.Index(list, node(i))
		if at < 0 {
			at = len(list) - 1
		}
		copy(list[1:at+1], list[:at])
		list[0] = node(i)
		if c.zone == nil {
			copy(all[i*width:], list)
		} else {
			Spread(list, c.zone, width, all[i*width:i*width])
		}
	}
	return all
}
