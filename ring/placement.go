package ring

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"
)

// A Row is one range of a [Placement].
type Row struct {
	Range Range
	// Epoch is the range's term of office: one more whenever its primary or its
	// bounds change, or its primary restarts.
	Epoch uint64
	// Primary serves the range. It is empty if no copy of the range is there.
	Primary string
	// Backups are the in-sync copies, in the order in which they take over.
	Backups []string
	// Learners receive a copy and do not count yet.
	Learners []string
}

// Copies goes over the nodes that have every acknowledged write of the range: the
// primary, then the backups.
func (r *Row) Copies() iter.Seq[string] {
	return func(yield func(string) bool) {
		if r.Primary == "" || !yield(r.Primary) {
			return
		}
		for _, b := range r.Backups {
			if !yield(b) {
				return
			}
		}
	}
}

// Holds tells whether a node is the primary or an in-sync backup.
func (r *Row) Holds(node string) bool {
	return node != "" && r.Primary == node || slices.Contains(r.Backups, node)
}

// A Placement is the table of all ranges. It never changes once it is made and may
// be read from any goroutine.
//
// Invariant: the ranges tile the circle. rows are ordered by Range.Start, each ends
// where the next one starts, and the last ends where the first starts; so only the
// last may wrap.
type Placement struct {
	rows  []Row
	nodes []string // every node of the rows, ordered
	seats *Seats

	// starts repeats the rows' bounds close together. parts[t>>shift] are the rows
	// among which that of t is.
	starts []Token
	parts  []part
	shift  uint
}

// A part of the circle knows the row with its first token and the one with its last.
// A first of -1 stands for the last row of all, which wraps there.
type part struct{ first, last int32 }

// NewPlacement makes a placement of rows in any order, which it keeps and nobody
// may change any more. It fails if they do not cover each token exactly once or if a
// range's nodes are not distinct.
func NewPlacement(rows []Row) (*Placement, error) {
	if !slices.IsSortedFunc(rows, byStart) {
		slices.SortFunc(rows, byStart)
	}
	p := &Placement{rows: rows}
	if err := p.checkTiling(); err != nil {
		return nil, err
	}
	if err := p.checkOwners(); err != nil {
		return nil, err
	}
	p.makeIndex()
	return p, nil
}

func byStart(a, b Row) int { return cmp.Compare(a.Range.Start, b.Range.Start) }

func (p *Placement) checkTiling() error {
	n := len(p.rows)
	if n == 0 {
		return fmt.Errorf("%w: there are none", ErrTiling)
	}
	if n == 1 && p.rows[0].Range.Start != p.rows[0].Range.End {
		return fmt.Errorf("%w: %v is the only one", ErrTiling, p.rows[0].Range)
	}
	for i := range p.rows {
		this, next := p.rows[i].Range, p.rows[(i+1)%n].Range
		switch {
		case n > 1 && this.Start == next.Start:
			return fmt.Errorf("%w: %v and %v start together", ErrTiling, this, next)
		case this.End != next.Start:
			return fmt.Errorf("%w: %v is followed by %v", ErrTiling, this, next)
		}
	}
	return nil
}

func (p *Placement) checkOwners() error {
	known := make(map[string]struct{})
	check := func(row *Row, node string) error {
		if _, ok := known[node]; ok {
			return nil
		}
		if err := validateID(node); err != nil {
			return fmt.Errorf("range %v: %w", row.Range, err)
		}
		known[node] = struct{}{}
		return nil
	}
	for i := range p.rows {
		row := &p.rows[i]
		if row.Primary == "" {
			if len(row.Backups) > 0 {
				return fmt.Errorf("range %v: %w: backups without a primary", row.Range, ErrOwners)
			}
		} else if err := check(row, row.Primary); err != nil {
			return err
		}
		for j, node := range row.Backups {
			if err := check(row, node); err != nil {
				return err
			}
			if node == row.Primary || slices.Contains(row.Backups[:j], node) {
				return fmt.Errorf("range %v: %w: %s is listed twice", row.Range, ErrOwners, node)
			}
		}
		for j, node := range row.Learners {
			if err := check(row, node); err != nil {
				return err
			}
			if row.Holds(node) || slices.Contains(row.Learners[:j], node) {
				return fmt.Errorf("range %v: %w: %s is listed twice", row.Range, ErrOwners, node)
			}
		}
	}
	p.nodes = make([]string, 0, len(known))
	for node := range known {
		p.nodes = append(p.nodes, node)
	}
	slices.Sort(p.nodes)
	return nil
}

// makeIndex takes about two parts for each row, so that a token's row is found by
// one jump and hardly a step, as long as rows are spread as hashes are. Buckets of one
// mask need no step.
func (p *Placement) makeIndex() {
	n := len(p.rows)
	p.starts = make([]Token, n)
	for i := range p.rows {
		p.starts[i] = p.rows[i].Range.Start
	}
	width := min(uint(bits.Len(uint(n))), 20)
	p.shift = 32 - width
	p.parts = make([]part, 1<<width)
	row := -1
	goTo := func(t Token) int32 {
		for row+1 < n && p.starts[row+1] <= t {
			row++
		}
		return int32(row)
	}
	for i := range p.parts {
		start := Token(i) << p.shift
		p.parts[i].first = goTo(start)
		p.parts[i].last = goTo(start + (1<<p.shift - 1))
	}
}

// Index returns the number of the row that a token lies in, 0..Len()-1. It
// allocates nothing.
func (p *Placement) Index(t Token) int {
	part := p.parts[t>>(p.shift&31)] // of 2^1 to 2^20 parts, so never by 32
	lo, hi := int(part.first), int(part.last)
	for hi-lo > 8 {
		mid := int(uint(lo+hi) >> 1)
		if p.starts[mid] <= t {
			lo = mid
		} else {
			hi = mid
		}
	}
	for lo < hi && p.starts[lo+1] <= t {
		lo++
	}
	if lo < 0 {
		return len(p.rows) - 1
	}
	return lo
}

// Lookup returns the row that a token lies in. It is shared and must not be changed.
// Lookup allocates nothing.
func (p *Placement) Lookup(t Token) *Row { return &p.rows[p.Index(t)] }

// Len is the number of ranges, at least 1.
func (p *Placement) Len() int { return len(p.rows) }

// Row returns the i-th row in the order of the tokens. It is shared: nobody may
// change it.
func (p *Placement) Row(i int) *Row { return &p.rows[i] }

// Rows goes over all rows in the order of the tokens. They are shared: nobody may
// change them.
func (p *Placement) Rows() iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		for i := range p.rows {
			if !yield(&p.rows[i]) {
				return
			}
		}
	}
}

// Nodes returns every node that the placement names, ordered.
func (p *Placement) Nodes() []string { return slices.Clone(p.nodes) }

// Bytes is about how much memory the placement takes.
func (p *Placement) Bytes() int {
	const rowBytes, stringBytes = 80, 16
	n := len(p.rows)*(rowBytes+4) + len(p.parts)*8
	for i := range p.rows {
		n += (len(p.rows[i].Backups) + len(p.rows[i].Learners)) * stringBytes
	}
	for _, node := range p.nodes {
		n += stringBytes + len(node)
	}
	if p.seats != nil {
		n += len(p.seats.Nodes)*stringBytes + len(p.seats.Free)*8
	}
	return n
}

// Without returns the placement after nodes have failed: they are out of every row,
// and where the primary is gone the first backup that is left has its place, under
// the next epoch. A range with no copy left has no primary. With nothing to change
// it returns p itself.
func (p *Placement) Without(failed ...string) *Placement {
	gone := make(map[string]bool, len(failed))
	for _, node := range failed {
		gone[node] = true
	}
	isGone := func(node string) bool { return gone[node] }
	if !slices.ContainsFunc(p.nodes, isGone) {
		return p
	}
	left := func(nodes []string) []string {
		if !slices.ContainsFunc(nodes, isGone) {
			return nodes
		}
		return slices.DeleteFunc(slices.Clone(nodes), isGone)
	}
	rows := make([]Row, len(p.rows))
	for i, row := range p.rows {
		row.Backups, row.Learners = left(row.Backups), left(row.Learners)
		if isGone(row.Primary) {
			row.Epoch++
			row.Primary = ""
			if len(row.Backups) > 0 {
				row.Primary, row.Backups = row.Backups[0], row.Backups[1:]
			}
		}
		rows[i] = row
	}
	after, err := NewPlacement(rows)
	if err != nil {
		panic(errors.Join(errors.New("ring: a placement without some nodes is none"), err))
	}
	return after.WithSeats(p.seats)
}
