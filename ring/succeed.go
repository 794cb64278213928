package ring

// Succeed makes the placement of rows that follows present, which may be nil, and
// sets their epochs: a row with the bounds and the primary of before keeps its
// epoch, any other is above all that it overlaps.
func Succeed(present *Placement, rows []Row) (*Placement, error) {
	p, err := NewPlacement(rows)
	if err != nil {
		return nil, err
	}
	for i := range p.rows {
		p.rows[i].Epoch = 1
	}
	if present == nil {
		return p, nil
	}
	for i := range p.rows {
		row := &p.rows[i]
		first := present.Index(row.Range.Start)
		if old := &present.rows[first]; old.Range == row.Range && old.Primary == row.Primary {
			row.Epoch = old.Epoch
			continue
		}
		row.Epoch = 0
		for j := range present.overlapping(first, row.Range) {
			row.Epoch = max(row.Epoch, present.rows[j].Epoch+1)
		}
	}
	return p, nil
}

// overlapping goes over the rows that share a token with r, from the one with its
// first token on.
func (p *Placement) overlapping(first int, r Range) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		left := r.Len()
		at := r.Start
		for i := first; ; i = (i + 1) % len(p.rows) {
			if !yield(i) {
				return
			}
			// What this row has of r from at on.
			n := p.rows[i].Range.Len() - uint64(at-p.rows[i].Range.Start)
			if n >= left {
				return
			}
			left -= n
			at = p.rows[i].Range.End
		}
	}
}
