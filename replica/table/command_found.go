package table

import (
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/ring"
)

// Found makes a cluster of one node, which serves the whole circle. It succeeds
// once.
type Found struct {
	Cluster     Cluster
	Node        string
	Incarnation uint64
	Server      string // set by [Table.Found]
	Weight      float64
	Pins        []ring.Token
	OnlyPins    bool
	// Rows are the placement that the strategy wants for the one node.
	Rows []ring.Row
	// Seated reports that placements of the strategy carry [ring.Seats].
	Seated bool
	// Databases is how many numbered databases there are; 0 is one.
	Databases int
	// Policies are those of the databases; nil if each has the default.
	Policies *database.Policies
}

// maxFirstEpoch leaves epochs room to grow as long as anyone counts.
const maxFirstEpoch = 1 << 32

func (*Found) kind() kind { return kindFound }

func (f *Found) code(c *codec) {
	f.Cluster.code(c)
	c.text(&f.Node)
	c.number(&f.Incarnation)
	c.text(&f.Server)
	c.float(&f.Weight)
	c.tokenList(&f.Pins)
	c.flag(&f.OnlyPins)
	list(c, &f.Rows, 12, func(r *ring.Row) {
		c.span(&r.Range)
		c.number(&r.Epoch)
		c.text(&r.Primary)
		c.textList(&r.Backups)
		c.textList(&r.Learners)
	})
	if c.reading || f.Databases == 0 && f.Policies == nil {
		addedSettings(c, &f.Seated, &f.Cluster.Strategy.Cells)
	} else {
		c.flag(&f.Seated)
		f.Cluster.Strategy.Cells.code(c)
	}
	if c.reading && len(c.buf) > 0 || !c.reading && (f.Databases != 0 || f.Policies != nil) {
		c.integer(&f.Databases)
	}
	if c.reading && len(c.buf) > 0 || !c.reading && f.Policies != nil {
		codePolicies(c, &f.Policies, max(f.Databases, 1))
	}
}

func (f *Found) apply(d *draft) error {
	if d.Founded() {
		return refuse(ErrFounded, "%s, generation %d", d.cluster.Name, d.cluster.Generation)
	}
	if err := f.Cluster.validate(); err != nil {
		return err
	}
	if f.Cluster.Moves != (Moves{}) || f.Cluster.Switch != (Switch{}) {
		return refuse(ErrInvalid, "a cluster that is founded with moves paused or bounded, or with its strategy switched")
	}
	node := Node{
		ID: f.Node, Incarnation: f.Incarnation, Server: f.Server, State: Member, Intact: true,
		Weight: f.Weight, Pins: f.Pins, OnlyPins: f.OnlyPins, Since: d.index,
	}
	if err := node.validate(); err != nil {
		return err
	}
	if len(f.Rows) > maxRows {
		return refuse(ErrTooMany, "%d ranges, %d are allowed", len(f.Rows), maxRows)
	}
	for _, row := range f.Rows {
		switch {
		case row.Primary != f.Node || len(row.Backups) > 0 || len(row.Learners) > 0:
			return refuse(ErrInvalid, "%v does not belong to %s alone", row.Range, f.Node)
		case row.Epoch == 0 || row.Epoch > maxFirstEpoch:
			return refuse(ErrInvalid, "%v begins with epoch %d", row.Range, row.Epoch)
		}
	}
	// The placement orders and checks the rows; it keeps its own list of them.
	p, err := ring.NewPlacement(append([]ring.Row(nil), f.Rows...))
	if err != nil {
		return refuse(ErrInvalid, "%v", err)
	}
	d.cluster = f.Cluster
	d.nodes = []Node{node}
	if f.Databases > database.Limit {
		return refuse(ErrInvalid, "%d databases, %d are allowed", f.Databases, database.Limit)
	}
	d.databases, d.policies = f.Databases, f.Policies
	d.seat(f.Seated)
	d.lastLineage = 1
	first := make([]Row, 0, p.Len())
	for row := range p.Rows() {
		first = append(first, Row{Row: *row, Lineage: 1, Version: 1, Incarnation: f.Incarnation})
	}
	d.rows = chunked(first, d.mark)
	d.replan()
	return nil
}
