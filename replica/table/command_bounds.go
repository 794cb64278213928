package table

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// Split cuts rows. The pieces have the nodes of the row and begin the epoch after
// its. A handoff that is in progress there is cancelled as a whole.
type Split struct {
	Cuts []Cut
}

// A Cut is one row and where it is cut: tokens inside it, in their order from its
// start, each of which begins a piece.
type Cut struct {
	Row Ref
	At  []ring.Token
}

func (*Split) kind() kind { return kindSplit }

func (s *Split) code(c *codec) {
	list(c, &s.Cuts, 12, func(cut *Cut) {
		cut.Row.code(c)
		c.tokenList(&cut.At)
	})
}

func (s *Split) apply(d *draft) error {
	seen := make(map[ring.Token]bool, len(s.Cuts))
	busy := make(map[uint64]bool)
	more := 0
	for _, cut := range s.Cuts {
		row, err := d.check(cut.Row)
		if err != nil {
			return err
		}
		if seen[row.Range.Start] {
			return refuse(ErrInvalid, "%v twice", row.Range)
		}
		seen[row.Range.Start] = true
		if len(cut.At) == 0 {
			return refuse(ErrBounds, "%v is cut nowhere", row.Range)
		}
		last := ring.Token(0)
		for _, at := range cut.At {
			if far := at - row.Range.Start; far <= last || uint64(far) >= row.Range.Len() {
				return refuse(ErrBounds, "%v cannot be cut at %08x", row.Range, uint32(at))
			}
			last = at - row.Range.Start
		}
		if row.Op.Handoff != 0 {
			busy[row.Op.Handoff] = true
		}
		more += len(cut.At)
	}
	if d.rows.n+more > maxRows {
		return refuse(ErrTooMany, "%d ranges, %d are allowed", d.rows.n+more, maxRows)
	}
	d.cancel(func(h *Handoff) bool { return busy[h.ID] })
	var old []ring.Token
	var pieces []Row
	for _, cut := range s.Cuts {
		piece := *d.rows.at(cut.Row.Range.Start)
		old = append(old, piece.Range.Start)
		piece.Epoch++
		piece.Version++
		end := piece.Range.End
		for _, at := range cut.At {
			piece.Range.End = at
			pieces = append(pieces, piece)
			piece.Range.Start = at
		}
		piece.Range.End = end
		pieces = append(pieces, piece)
	}
	d.rows.replace(old, pieces, d.mark)
	d.replan()
	return nil
}

// Merge makes one row of each run of neighbours.
type Merge struct {
	Runs []Run
}

// A Run is two or more rows, each beginning where the one before it ends, with the
// same primary, backups and lineage, and with no learner and nothing in progress.
type Run struct {
	Rows []Ref
}

func (*Merge) kind() kind { return kindMerge }

func (m *Merge) code(c *codec) {
	list(c, &m.Runs, 1, func(r *Run) { refs(c, &r.Rows) })
}

func (m *Merge) apply(d *draft) error {
	seen := make(map[ring.Token]bool)
	var old []ring.Token
	var merged []Row
	for _, run := range m.Runs {
		row, err := d.merge(run.Rows, seen)
		if err != nil {
			return err
		}
		merged = append(merged, row)
		for _, ref := range run.Rows {
			old = append(old, ref.Range.Start)
		}
	}
	d.rows.replace(old, merged, d.mark)
	d.replan()
	return nil
}

// merge makes the row of a run, above all of it in epoch and version.
func (d *draft) merge(run []Ref, seen map[ring.Token]bool) (Row, error) {
	if len(run) < 2 {
		return Row{}, refuse(ErrBounds, "%d ranges to merge", len(run))
	}
	var all Row
	for i, ref := range run {
		row, err := d.check(ref)
		if err != nil {
			return Row{}, err
		}
		if seen[ref.Range.Start] {
			return Row{}, refuse(ErrInvalid, "%v twice", ref.Range)
		}
		seen[ref.Range.Start] = true
		if row.Op.Handoff != 0 || len(row.Learners) > 0 {
			return Row{}, refuse(ErrBusy, "%v", ref.Range)
		}
		if i == 0 {
			all = *row
			continue
		}
		switch {
		case all.Range.End != row.Range.Start:
			return Row{}, refuse(ErrBounds, "%v is not next to %v", ref.Range, all.Range)
		case all.Primary != row.Primary || all.Lineage != row.Lineage || all.Incarnation != row.Incarnation || !sameSet(all.Backups, row.Backups):
			return Row{}, refuse(ErrBounds, "%v is not held as %v is", ref.Range, all.Range)
		}
		all.Range.End = row.Range.End
		all.Epoch = max(all.Epoch, row.Epoch)
		all.Version = max(all.Version, row.Version)
	}
	all.Epoch++
	all.Version++
	return all, nil
}

// sameSet compares lists of distinct nodes without their order.
func sameSet(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(node string) bool { return !slices.Contains(b, node) })
}
