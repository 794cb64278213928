package table

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/ringside-kv/ringside/ring"
)

// chunkRows is how many rows are copied for the change of one.
const chunkRows = 256

// rows are the table's rows in the order of their starts, cut into chunks. Copies
// of rows share their chunks; a chunk is changed only under the mark of the draft
// that made it, so a change costs one chunk and the list of chunks.
type rows struct {
	chunks []*chunk
	n      int
}

type chunk struct {
	rows []Row
	mark *mark
}

// A mark is a draft's claim on a chunk. It has a size, so that no two are equal.
type mark struct{ _ byte }

// chunked takes rows that are ordered by their starts, and keeps them.
func chunked(sorted []Row, m *mark) rows {
	r := rows{n: len(sorted)}
	for part := range slices.Chunk(sorted, chunkRows*3/4) {
		r.chunks = append(r.chunks, &chunk{slices.Clip(part), m})
	}
	return r
}

// find returns the chunk and the place in it of the row with a token. There is at
// least one row.
func (r *rows) find(t ring.Token) (int, int) {
	i := sort.Search(len(r.chunks), func(i int) bool { return r.chunks[i].rows[0].Range.Start > t }) - 1
	if i < 0 {
		i = len(r.chunks) - 1
		return i, len(r.chunks[i].rows) - 1
	}
	in := r.chunks[i].rows
	return i, sort.Search(len(in), func(j int) bool { return in[j].Range.Start > t }) - 1
}

func (r *rows) at(t ring.Token) *Row {
	i, j := r.find(t)
	return &r.chunks[i].rows[j]
}

func (r *rows) all() iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		for _, c := range r.chunks {
			for i := range c.rows {
				if !yield(&c.rows[i]) {
					return
				}
			}
		}
	}
}

// own makes a chunk one that may be changed under the mark.
func (r *rows) own(i int, m *mark) *chunk {
	c := r.chunks[i]
	if c.mark != m {
		c = &chunk{slices.Clone(c.rows), m}
		r.chunks[i] = c
	}
	return c
}

// edit returns the row with a token for changing it, but not its bounds. What it
// returns holds until the next replace.
func (r *rows) edit(t ring.Token, m *mark) *Row {
	i, j := r.find(t)
	return &r.own(i, m).rows[j]
}

// replace puts rows in the place of others, which are named by their starts.
func (r *rows) replace(old []ring.Token, by []Row, m *mark) {
	if len(old)+len(by) > 64 && (len(old)+len(by))*chunkRows > r.n {
		r.rebuild(old, by, m)
		return
	}
	for _, start := range old {
		r.remove(start, m)
	}
	for _, row := range by {
		r.insert(row, m)
	}
}

func (r *rows) remove(start ring.Token, m *mark) {
	i, j := r.find(start)
	c := r.own(i, m)
	c.rows = slices.Delete(c.rows, j, j+1)
	if len(c.rows) == 0 {
		r.chunks = slices.Delete(r.chunks, i, i+1)
	}
	r.n--
}

func (r *rows) insert(row Row, m *mark) {
	r.n++
	if len(r.chunks) == 0 {
		r.chunks = append(r.chunks, &chunk{[]Row{row}, m})
		return
	}
	i := max(0, sort.Search(len(r.chunks), func(i int) bool { return r.chunks[i].rows[0].Range.Start > row.Range.Start })-1)
	c := r.own(i, m)
	j := sort.Search(len(c.rows), func(j int) bool { return c.rows[j].Range.Start > row.Range.Start })
	c.rows = slices.Insert(c.rows, j, row)
	if n := len(c.rows); n > chunkRows {
		upper := &chunk{slices.Clone(c.rows[n/2:]), m}
		c.rows = slices.Clip(c.rows[:n/2])
		r.chunks = slices.Insert(r.chunks, i+1, upper)
	}
}

// rebuild is replace for changes that touch most chunks anyway.
func (r *rows) rebuild(old []ring.Token, by []Row, m *mark) {
	gone := make(map[ring.Token]bool, len(old))
	for _, start := range old {
		gone[start] = true
	}
	flat := make([]Row, 0, r.n+len(by))
	for row := range r.all() {
		if !gone[row.Range.Start] {
			flat = append(flat, *row)
		}
	}
	flat = append(flat, by...)
	slices.SortFunc(flat, func(a, b Row) int { return cmp.Compare(a.Range.Start, b.Range.Start) })
	*r = chunked(flat, m)
}
