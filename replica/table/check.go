package table

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// Check looks whether all holds that DESIGN.md says of a state. Its error joins every
// fault. It takes time in proportion to the whole state.
func (s *State) Check() error {
	if !s.Founded() {
		if s.rows.n+len(s.nodes)+len(s.handoffs)+len(s.comparisons.from) > 0 {
			return fmt.Errorf("%w: a table without a cluster is not empty", ErrBroken)
		}
		return nil
	}
	k := checker{s: s}
	if err := s.cluster.validate(); err != nil {
		k.fault("%v", err)
	}
	if !s.comparisons.sound() {
		k.fault("comparisons out of order")
	}
	if s.cluster.Since > s.index {
		k.fault("the strategy was switched at index %d of %d", s.cluster.Since, s.index)
	}
	if err := s.load.validate(); err != nil {
		k.fault("%v", err)
	}
	if s.load.Since > s.index {
		k.fault("load balancing was changed at index %d of %d", s.load.Since, s.index)
	}
	k.seats()
	if s.basis > s.index {
		k.fault("basis %d is above index %d", s.basis, s.index)
	}
	k.nodes()
	k.handoffs()
	k.tiling()
	for row := range s.rows.all() {
		k.row(row)
	}
	return errors.Join(k.faults...)
}

type checker struct {
	s      *State
	faults []error
}

// seats are of those members that count.
func (k *checker) seats() {
	if k.s.seats == nil {
		return
	}
	if err := k.s.seats.Validate(); err != nil {
		k.fault("%v", err)
	}
	if k.s.seats.With(k.s.MembersOf()) != k.s.seats {
		k.fault("the seats are not those of the members")
	}
}

// maxFaults is enough to see what is wrong.
const maxFaults = 20

func (k *checker) fault(format string, args ...any) {
	if len(k.faults) < maxFaults {
		k.faults = append(k.faults, fmt.Errorf("%w: "+format, append([]any{ErrBroken}, args...)...))
	}
}

func (k *checker) nodes() {
	for i := range k.s.nodes {
		n := &k.s.nodes[i]
		if err := n.validate(); err != nil {
			k.fault("%v", err)
		}
		if n.Since > k.s.index || n.Failed > k.s.index || n.Anew > n.Incarnation {
			k.fault("%s is %v since an index to come", n.ID, n.State)
		}
	}
	if !slices.IsSortedFunc(k.s.nodes, func(a, b Node) int { return cmp.Or(cmp.Compare(a.ID, b.ID), 1) }) {
		k.fault("nodes out of order, or twice")
	}
}

func (k *checker) handoffs() {
	last := uint64(0)
	for _, h := range k.s.handoffs {
		if h.ID <= last || h.ID > k.s.lastHandoff {
			k.fault("handoff %d after %d, of %d", h.ID, last, k.s.lastHandoff)
		}
		last = h.ID
		k.present("handoff from", h.From)
		k.present("handoff to", h.To)
		copied := *h
		copied.Pieces = slices.Clone(h.Pieces)
		if err := copied.validate(); err != nil || !slices.Equal(copied.Pieces, h.Pieces) {
			k.fault("handoff %d: bad pieces: %v", h.ID, err)
		}
		if h.Phase >= Done || (h.Phase == Planned) != (h.Started == 0) || h.Started > k.s.index {
			k.fault("handoff %d is %v, started at %d", h.ID, h.Phase, h.Started)
		}
	}
}

func (k *checker) present(what, node string) {
	if n, ok := k.s.Node(node); !ok || n.State == Gone {
		k.fault("%s %.300q, which is not registered or gone", what, node)
	}
}

func (k *checker) tiling() {
	var before *Row
	var first ring.Token
	n := 0
	for row := range k.s.rows.all() {
		switch {
		case n == 0:
			first = row.Range.Start
		case row.Range.Start <= before.Range.Start || row.Range.Start != before.Range.End:
			k.fault("%v is followed by %v", before.Range, row.Range)
		}
		before = row
		n++
	}
	switch {
	case n == 0 || n != k.s.rows.n:
		k.fault("%d rows, counted as %d", n, k.s.rows.n)
	case before.Range.End != first:
		k.fault("the last range is %v, the first begins with %08x", before.Range, uint32(first))
	}
	for _, c := range k.s.rows.chunks {
		if len(c.rows) == 0 || len(c.rows) > chunkRows {
			k.fault("a chunk of %d rows", len(c.rows))
		}
	}
}

func (k *checker) row(r *Row) {
	if r.Primary == "" {
		k.fault("%v has no primary", r.Range)
	}
	seen := make(map[string]bool, 4)
	for _, list := range [][]string{{r.Primary}, r.Backups, r.Learners} {
		for _, node := range list {
			if seen[node] {
				k.fault("%v has %s twice", r.Range, node)
			}
			seen[node] = true
			k.store(r, node)
		}
	}
	if len(r.Starts) != len(r.Learners) {
		k.fault("%v has %d learners and %d starts", r.Range, len(r.Learners), len(r.Starts))
		return
	}
	for i, node := range r.Learners {
		if n, _ := k.s.Node(node); n.Incarnation != r.Starts[i] {
			k.fault("%v: %s learns as %d, is %d", r.Range, node, r.Starts[i], n.Incarnation)
		}
	}
	if r.Epoch == 0 || r.Version == 0 || r.Lineage == 0 || r.Lineage > k.s.lastLineage {
		k.fault("%v: lineage %d, epoch %d, version %d", r.Range, r.Lineage, r.Epoch, r.Version)
	}
	if n, _ := k.s.Node(r.Primary); r.Incarnation > n.Incarnation || len(r.Backups) == 0 && r.Incarnation != n.Incarnation && !k.s.Lost(r) {
		k.fault("%v: its epoch began with start %d of %s, which is at %d", r.Range, r.Incarnation, r.Primary, n.Incarnation)
	}
	k.op(r)
}

func (k *checker) store(r *Row, node string) {
	if n, ok := k.s.Node(node); !ok || n.State == Gone || n.Role != Store {
		k.fault("%v names %.300q, which is not a store of the cluster", r.Range, node)
	}
}

func (k *checker) op(r *Row) {
	if r.Op == (Op{}) {
		return
	}
	h, ok := k.s.Handoff(r.Op.Handoff)
	if !ok {
		k.fault("%v is part of handoff %d, which is not there", r.Range, r.Op.Handoff)
		return
	}
	piece, ok := h.Carries(r.Range)
	if !ok || h.To != r.Op.To || piece.Primary != r.Op.Primary || piece.Release != r.Op.Release {
		k.fault("%v: handoff %d does not say %+v", r.Range, h.ID, r.Op)
	}
	holds := map[Phase]bool{
		Copying: r.learns(r.Op.To),
		InSync:  slices.Contains(r.Backups, r.Op.To),
		Serving: r.Primary == r.Op.To && r.Op.Primary,
	}
	if !holds[r.Op.Phase] {
		k.fault("%v is %v at %s: %+v", r.Range, r.Op.Phase, r.Op.To, r.Row)
	}
}
