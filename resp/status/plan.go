package status

import (
	"io"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/ring"
)

// A Plan is what would move if nodes joined or left.
type Plan struct {
	Join, Leave []string // as they were named
	Strategy    Strategy
	// Switch is the strategy to switch to; nil if the present one stays.
	Switch *Strategy
	// Balance is how the load would be evened; nil if that is not planned.
	Balance *PlannedBalance
	Moves   []PlannedMove // from node to node, by From and To
	// Least is what has to move at least to give each node the load that it would have.
	Least Amount
	// Promotions are ranges that would only change their primary, Drops copies that
	// would only be given up.
	Promotions, Drops int
	// Nodes are those before and after, by id.
	Nodes []PlannedNode
	// Rate is what one handoff copies, in bytes a second: measured in Measured handoffs
	// or, if that is 0, assumed. Throttle bounds it already.
	Rate     float64
	Measured int64
	Throttle int64
	Paused   bool
	// Running are handoffs that are under way: what they have not moved yet is part of
	// the plan.
	Running int
}

// A PlannedBalance is the load before and after.
type PlannedBalance struct {
	// Before and After are the load of the busiest node by its weight, as a multiple of the mean.
	Before, After float64
	Busiest       string // before
	// Ranges would go to another primary; Bytes is what would be copied, estimated by the nodes' counts.
	Ranges int
	Bytes  int64
	// Hottest is a range that alone has HottestShare times the mean load of a node, more than a node
	// should have; HottestShare is 0 if there is none.
	Hottest      ring.Range
	HottestShare float64
	// Loads are operations a second before and after, by node.
	Loads map[string][2]float64
}

// An Amount of data.
type Amount struct{ Keys, Bytes int64 }

// A PlannedMove is one handoff.
type PlannedMove struct {
	From, To string
	Ranges   int
	// Fault says why keys and bytes are not known; empty if they are.
	Fault       string
	Keys, Bytes int64
}

// A PlannedNode is a node before and after.
type PlannedNode struct {
	ID            string
	Before, After PlannedLoad
}

// A PlannedLoad is what a node serves and copies.
type PlannedLoad struct {
	Ranges  int     // that it serves
	Share   float64 // of all tokens, those that it serves, from 0 to 1
	Backups int     // ranges that it has copies of
}

// seconds is how long a move takes by itself.
func (p *Plan) seconds(bytes int64) float64 {
	if !(p.Rate > 0) {
		return 0
	}
	return float64(bytes) / p.Rate
}

// Seconds is how long all moves take: a node sends one handoff at a time and receives
// one at a time, so the busiest node says.
func (p *Plan) Seconds() float64 {
	sent, received := map[string]int64{}, map[string]int64{}
	most := int64(0)
	for _, m := range p.Moves {
		sent[m.From] += m.Bytes
		received[m.To] += m.Bytes
		most = max(most, sent[m.From], received[m.To])
	}
	return p.seconds(most)
}

// Text is the plan for the narrowest terminal.
func (p *Plan) Text() (string, error) {
	var text strings.Builder
	err := p.Draw(&text, LeastWidth)
	return text.String(), err
}

// Draw writes a plan for a terminal of so many cells, as [Draw] does.
func (p *Plan) Draw(w io.Writer, cells int) error {
	d := drawing{cells: max(cells, LeastWidth)}
	for _, n := range p.Nodes {
		d.ids = append(d.ids, n.ID)
	}
	var words []string
	if len(p.Join) > 0 {
		words = append(words, "join "+strings.Join(p.Join, ", "))
	}
	if len(p.Leave) > 0 {
		words = append(words, "leave "+strings.Join(p.Leave, ", "))
	}
	if p.Switch != nil {
		words = append(words, "switch to "+p.Switch.text())
	}
	if p.Balance != nil {
		words = append(words, "even the load")
	}
	d.line("%s · %s", strings.Join(words, "; "), p.Strategy.text())
	if b := p.Balance; b != nil {
		d.line("busiest node by its weight: %s with %.2f × the mean load now, %.2f × expected; %s would go to another primary, with about %s to copy",
			b.Busiest, b.Before, b.After, plural(b.Ranges, "range"), size(b.Bytes))
		b.remarkHottest(&d, p.Strategy.Name)
	}
	if len(p.Moves) == 0 {
		d.line("nothing would move")
	} else {
		d.out.WriteString("\n" + tabulate(&d, append(p.Moves, p.Total()), p.moveColumns))
	}
	p.remark(&d)
	d.out.WriteString("\n" + tabulate(&d, p.Nodes, p.nodeColumns))
	_, err := io.WriteString(w, d.out.String())
	return err
}

// Total is the sum of all moves.
func (p *Plan) Total() PlannedMove {
	var sum PlannedMove
	for _, m := range p.Moves {
		sum.Ranges += m.Ranges
		sum.Keys += m.Keys
		sum.Bytes += m.Bytes
	}
	return sum
}

func (p *Plan) moveColumns(label map[string]string) []column[PlannedMove] {
	known := func(m *PlannedMove, text string) string {
		if m.Fault != "" {
			return none
		}
		return text
	}
	return []column[PlannedMove]{
		{head: "from → to", left: true, get: func(m *PlannedMove) string {
			if m.From == "" {
				return "all of them"
			}
			return label[m.From] + " → " + label[m.To]
		}},
		{head: "ranges", get: func(m *PlannedMove) string { return strconv.Itoa(m.Ranges) }},
		{head: "keys", get: func(m *PlannedMove) string { return known(m, count(m.Keys)) }},
		{head: "bytes", get: func(m *PlannedMove) string { return known(m, size(m.Bytes)) }},
		{head: "time", get: func(m *PlannedMove) string {
			if m.From == "" {
				return estimate(p.Seconds())
			}
			return known(m, estimate(p.seconds(m.Bytes)))
		}},
	}
}

// times writes how many times one amount is another.
func times(n, of int64) string {
	if of == 0 {
		return none
	}
	return strconv.FormatFloat(float64(n)/float64(of), 'f', 2, 64) + " ×"
}

// estimate writes a time that was not measured.
func estimate(s float64) string {
	if s < 1 {
		return "<1s"
	}
	return "~" + seconds(s)
}

func (p *Plan) nodeColumns(label map[string]string) []column[PlannedNode] {
	columns := []column[PlannedNode]{
		{head: "node", left: true, get: func(n *PlannedNode) string { return label[n.ID] }},
		{head: "P now", get: func(n *PlannedNode) string { return strconv.Itoa(n.Before.Ranges) }},
		{head: "then", get: func(n *PlannedNode) string { return strconv.Itoa(n.After.Ranges) }},
		{head: "S now", get: func(n *PlannedNode) string { return strconv.Itoa(n.Before.Backups) }},
		{head: "then", get: func(n *PlannedNode) string { return strconv.Itoa(n.After.Backups) }},
		{head: "share % now", get: func(n *PlannedNode) string { return percent(n.Before.Share) }},
		{head: "then", get: func(n *PlannedNode) string { return percent(n.After.Share) }},
	}
	if p.Balance == nil {
		return columns
	}
	ops := func(at int) func(*PlannedNode) string {
		return func(n *PlannedNode) string { return count(int64(p.Balance.Loads[n.ID][at] + .5)) }
	}
	return append(columns, column[PlannedNode]{head: "ops/s now", get: ops(0)}, column[PlannedNode]{head: "then", get: ops(1)})
}

// remarkHottest says what to do about a range that no node can have without being too busy.
func (b *PlannedBalance) remarkHottest(d *drawing, strategy string) {
	if b.HottestShare == 0 {
		return
	}
	what, smaller := "range", ""
	if strategy == "buckets" {
		what, smaller = "bucket", "; if several are hot, smaller buckets divide them (RING STRATEGY buckets MASK 0FFF)"
	}
	d.line("! the %s %v alone has %.2f × the mean load of a node, so no move evens it: HOTKEYS shows its keys%s", what, b.Hottest, b.HottestShare, smaller)
}

// remark says what the figures rest on.
func (p *Plan) remark(d *drawing) {
	if p.Promotions+p.Drops > 0 {
		d.line("%s would change who serves them without moving; %s would be given up",
			plural(p.Promotions, "range"), plural(p.Drops, "backup"))
	}
	for _, m := range p.Moves {
		if m.Fault != "" {
			d.line("! keys of %s → %s are not known: %s", m.From, m.To, m.Fault)
		}
	}
	if sum := p.Total(); p.Switch != nil && len(p.Moves) > 0 {
		d.line("least to move for the same load of each node: %s, %s; this is %s of it",
			plural(int(p.Least.Keys), "key"), size(p.Least.Bytes), times(sum.Bytes, p.Least.Bytes))
	}
	if len(p.Moves) > 0 {
		basis := "assumed, since little has been moved yet to measure it by"
		switch {
		case p.Throttle > 0 && p.Rate >= float64(p.Throttle):
			basis = "to which RING THROTTLE bounds it"
		case p.Measured > 0:
			basis = "the mean of " + plural(int(p.Measured), "handoff") + " so far"
		}
		d.line("times: at %s/s a handoff, %s; a node sends one and receives one at a time", size(int64(p.Rate)), basis)
		if p.Paused {
			d.line("! the moving of data is paused: nothing moves before RING RESUME")
		}
	}
	if p.Running > 0 {
		d.line("%s under way: what they have not moved yet is part of this", plural(p.Running, "handoff"))
	}
}
