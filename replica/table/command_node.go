package table

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/table/zones"
	"github.com/ringside-kv/ringside/ring"
)

// Register says that a node has started. A node that is new, or was gone, joins.
//
// Ranges of which the node alone has the data begin a new epoch, since its sequences
// start anew. Elsewhere a copy counts after a restart only if the node proved that it
// lost nothing: see Intact. A range of which the node is the primary and others have
// copies stays as it is until a [Failover] says who goes on; until then
// Row.Incarnation keeps the node from serving it. A node with another directory than the
// one that was registered has nothing: what it had alone is lost, and never served empty.
type Register struct {
	Node        string
	Incarnation uint64 // above the registered one
	// Server is the node's id in the Raft group, see [Table.Server]; Apply fills it in
	// where a node registers itself. Empty leaves it as it is.
	Server string
	Role   Role
	// Weight is the node's share; 0 leaves it as it is, or 1 for a new node.
	Weight float64
	// HasPins reports that Pins and OnlyPins are given; otherwise they stay.
	HasPins  bool
	Pins     []ring.Token
	OnlyPins bool
	// Intact reports that the node has all that it had acknowledged when its last start
	// ended. Otherwise it leaves the sets in which others have a copy, but for those that
	// it leads; of those it is not taken for intact any more until it is decided who goes
	// on.
	Intact bool
	// After is the start that the node's directory knows of as the last one; 0 if that
	// is not known. If another is registered, the directory is an old copy, and not
	// intact.
	After uint64
}

func (*Register) kind() kind { return kindRegister }

func (r *Register) code(c *codec) {
	c.text(&r.Node)
	c.number(&r.Incarnation)
	c.text(&r.Server)
	small(c, &r.Role, Witness)
	c.float(&r.Weight)
	c.flag(&r.HasPins)
	c.tokenList(&r.Pins)
	c.flag(&r.OnlyPins)
	c.flag(&r.Intact)
	c.added(&r.After)
}

func (r *Register) apply(d *draft) error {
	at, known := place(d.nodes, r.Node)
	intact := r.Intact && (r.After == 0 || known && d.nodes[at].Incarnation == r.After)
	node := Node{ID: r.Node, Weight: 1, State: Joining, Since: d.index}
	if known {
		node = d.nodes[at]
		if r.Incarnation <= node.Incarnation {
			return refuse(ErrIncarnation, "%s was started as %d, so not after that as %d", r.Node, node.Incarnation, r.Incarnation)
		}
		if r.Role != node.Role && node.State != Gone && d.holds(r.Node) {
			return refuse(ErrCopies, "%s cannot become a %v", r.Node, r.Role)
		}
		if node.State == Gone {
			d.enter(&node, Joining)
		}
		if r.Role != node.Role {
			d.cancel(func(h *Handoff) bool { return h.From == r.Node || h.To == r.Node })
		}
	}
	if node.Server != "" && r.Server != "" && r.Server != node.Server {
		intact, node.Anew = false, r.Incarnation
	}
	node.Intact = intact && (!known || node.Intact || !d.undecided(&node))
	node.Incarnation, node.Role = r.Incarnation, r.Role
	if r.Server != "" {
		node.Server = r.Server
	}
	if node.Role != Store && node.State == Joining {
		d.enter(&node, Member)
	}
	if r.Weight != 0 {
		node.Weight = r.Weight
	}
	if r.HasPins {
		node.Pins, node.OnlyPins = r.Pins, r.OnlyPins
	}
	if err := node.validate(); err != nil {
		return err
	}
	if known {
		d.nodes[at] = node
	} else {
		if d.countPresent() >= maxNodes {
			return refuse(ErrTooMany, "%d nodes", maxNodes)
		}
		d.nodes = slices.Insert(d.nodes, at, node)
	}
	d.restart(r, intact)
	d.replan()
	return nil
}

// undecided reports whether a node that was started leads rows that others hold too, of
// for which no successor is decided yet. What an earlier start had lost there is not
// found again by one that lost nothing more.
func (d *draft) undecided(n *Node) bool {
	for row := range d.rows.all() {
		if row.Primary == n.ID && row.Incarnation != n.Incarnation {
			return true
		}
	}
	return false
}

// restart says what the new start of a node means for the rows that name it.
func (d *draft) restart(r *Register, intact bool) {
	at, _ := place(d.nodes, r.Node)
	anew := d.nodes[at].Anew == r.Incarnation
	leaves := func(row *Row) bool {
		// Where the primary has nothing any more, what the node has is better than that.
		return !intact && row.Primary != r.Node && row.Holds(r.Node) && (anew || !d.Emptied(row))
	}
	alone := func(row *Row) bool { return row.Primary == r.Node && len(row.Backups) == 0 }
	d.change(
		func(row *Row) bool { return leaves(row) || alone(row) || row.learns(r.Node) },
		func(row *Row) {
			if leaves(row) {
				row.dropBackup(r.Node)
			}
			row.dropLearner(r.Node)
			d.confirm(row)
			if row.Op.To == r.Node && row.Primary != r.Node {
				row.Op = Op{}
			}
			row.settle()
		})
}

func (d *draft) countPresent() int {
	n := 0
	for i := range d.nodes {
		if d.nodes[i].State != Gone {
			n++
		}
	}
	return n
}

// SetWeight changes the share of a node.
type SetWeight struct {
	Node        string
	Incarnation uint64
	Weight      float64
}

func (*SetWeight) kind() kind { return kindSetWeight }

func (s *SetWeight) code(c *codec) {
	c.text(&s.Node)
	c.number(&s.Incarnation)
	c.float(&s.Weight)
}

func (s *SetWeight) apply(d *draft) error {
	n, err := d.started(s.Node, s.Incarnation)
	if err != nil {
		return err
	}
	n.Weight = s.Weight
	d.replan()
	return n.validate()
}

// SetPins changes the points that were picked for a node by hand.
type SetPins struct {
	Node        string
	Incarnation uint64
	Pins        []ring.Token
	OnlyPins    bool
}

func (*SetPins) kind() kind { return kindSetPins }

func (s *SetPins) code(c *codec) {
	c.text(&s.Node)
	c.number(&s.Incarnation)
	c.tokenList(&s.Pins)
	c.flag(&s.OnlyPins)
}

func (s *SetPins) apply(d *draft) error {
	n, err := d.started(s.Node, s.Incarnation)
	if err != nil {
		return err
	}
	n.Pins, n.OnlyPins = s.Pins, s.OnlyPins
	d.replan()
	return n.validate()
}

// Leave says that a node is to hand over all that it has. It goes on serving
// meanwhile.
type Leave struct {
	Node        string
	Incarnation uint64
}

func (*Leave) kind() kind { return kindLeave }

func (l *Leave) code(c *codec) {
	c.text(&l.Node)
	c.number(&l.Incarnation)
}

func (l *Leave) apply(d *draft) error {
	n, err := d.started(l.Node, l.Incarnation)
	if err != nil {
		return err
	}
	if n.State == Leaving {
		return refuse(ErrNodeState, "%s is leaving already", l.Node)
	}
	if n.Role == Store {
		others := slices.ContainsFunc(d.nodes, func(o Node) bool { return o.ID != l.Node && o.Counts() })
		if !others {
			return refuse(ErrLastStore, "%s stays", l.Node)
		}
	}
	d.enter(n, Leaving)
	d.replan()
	return nil
}

// Forget says that a node that has no copies any more is gone. Its handoffs, and
// what it was learning, are cancelled.
type Forget struct {
	Node        string
	Incarnation uint64
}

func (*Forget) kind() kind { return kindForget }

func (f *Forget) code(c *codec) {
	c.text(&f.Node)
	c.number(&f.Incarnation)
}

func (f *Forget) apply(d *draft) error {
	n, err := d.started(f.Node, f.Incarnation)
	if err != nil {
		return err
	}
	if d.holds(f.Node) {
		return refuse(ErrCopies, "%s", f.Node)
	}
	d.cancel(func(h *Handoff) bool { return h.From == f.Node || h.To == f.Node })
	d.change(func(r *Row) bool { return r.learns(f.Node) }, func(r *Row) { r.dropLearner(f.Node) })
	d.enter(n, Gone)
	d.values = zones.Without(d.values, f.Node)
	d.dropOldest()
	d.replan()
	return nil
}

// dropOldest keeps the number of nodes that are gone within its bound.
func (d *draft) dropOldest() {
	gone, oldest := 0, -1
	for i := range d.nodes {
		if d.nodes[i].State != Gone {
			continue
		}
		gone++
		if oldest < 0 || d.nodes[i].Since < d.nodes[oldest].Since {
			oldest = i
		}
	}
	if gone > maxGone {
		d.nodes = slices.Delete(d.nodes, oldest, oldest+1)
	}
}
