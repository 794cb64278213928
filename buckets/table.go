package buckets

import (
	"fmt"

	"github.com/ringside-kv/ringside/ring"
)

// A Table is what a client keeps of the placement: for each hash under the widest
// mask that it has heard of, who serves it. It learns bucket by bucket, from
// hashmasks of any width, and may be behind: then a server says so. It is not safe
// for use by several goroutines at once.
type Table struct {
	mask    uint32
	entries []Entry
}

// An Entry is one hashmask as a server announces it.
type Entry struct {
	Hashmask
	Epoch   uint64
	Primary string // empty: not known, or no copy is there
	Backups []string
}

// NewTable returns a table that knows no node, with one entry for each bucket of a
// mask.
func NewTable(mask uint32) (*Table, error) {
	if err := checkMask(mask, MaxMask); err != nil {
		return nil, err
	}
	return &Table{mask: mask, entries: make([]Entry, mask+1)}, nil
}

// TableOf returns the table of a placement, or an error that wraps [ring.ErrPresent]
// if it is not one of buckets.
func TableOf(p *ring.Placement) (*Table, error) {
	t := &Table{mask: 1, entries: make([]Entry, 2)}
	for row := range p.Rows() {
		h, ok := ofRange(row.Range)
		if !ok {
			return nil, fmt.Errorf("%w: %v is not a bucket", ring.ErrPresent, row.Range)
		}
		if err := t.Update(Entry{Hashmask: h, Epoch: row.Epoch, Primary: row.Primary, Backups: row.Backups}); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Mask is the widest mask that the table has heard of.
func (t *Table) Mask() uint32 { return t.mask }

// Update takes in what a server announces. If its mask is wider than the table's, the
// table expands first: each new entry is that of its hash under the old mask. What
// belongs to an earlier epoch than an entry's is passed over, so that a late word
// about a bucket does not hide that it was split since.
func (t *Table) Update(e Entry) error {
	if err := checkMask(e.Mask, MaxMask); err != nil {
		return err
	}
	if e.ID&^e.Mask != 0 {
		return fmt.Errorf("%w: %v has bits outside its mask", ring.ErrMalformed, e.Hashmask)
	}
	if e.Mask > t.mask {
		t.expand(e.Mask)
	}
	for hash := e.ID; hash <= t.mask; hash += e.Mask + 1 {
		if e.Epoch >= t.entries[hash].Epoch {
			t.entries[hash] = e
		}
	}
	return nil
}

func (t *Table) expand(mask uint32) {
	wider := make([]Entry, mask+1)
	for hash := range wider {
		wider[hash] = t.entries[uint32(hash)&t.mask]
	}
	t.mask, t.entries = mask, wider
}

// Lookup returns what is known about a token. It allocates nothing.
func (t *Table) Lookup(token ring.Token) *Entry { return &t.entries[HashOf(token)&t.mask] }
