package status

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	gotext "github.com/jedib0t/go-pretty/v6/text"
)

// LeastWidth is that of the narrowest terminal that a drawing is made for.
const LeastWidth = 80

// Bounds of what is drawn, so that a drawing of a large cluster can be read. JSON has
// all of it.
const (
	mostHandoffs  = 20
	mostGridNodes = 40
)

// Draw writes a report for a terminal of so many cells; below [LeastWidth] it is drawn
// for that. Every line ends with a line feed.
func Draw(w io.Writer, r *Report, cells int) error {
	d := drawing{r: r, cells: max(cells, LeastWidth)}
	for i := range r.Nodes {
		d.ids = append(d.ids, r.Nodes[i].ID)
	}
	named := []string{r.Asked, r.Leader}
	for _, h := range r.Handoffs {
		named = append(named, h.From, h.To)
	}
	for _, id := range named {
		if id != "" && !slices.Contains(d.ids, id) {
			d.ids = append(d.ids, id)
		}
	}
	d.heading()
	d.nodes()
	d.databases()
	d.loads()
	d.remarks()
	d.handoffs()
	if len(r.Buckets) > 0 {
		d.grid()
	} else {
		d.shares()
	}
	_, err := io.WriteString(w, d.out.String())
	return err
}

// headingLabel is how many cells the name of a node takes at most in the heading.
const headingLabel = 18

type drawing struct {
	r     *Report
	cells int
	ids   []string // of all nodes that are named
	out   strings.Builder
}

// line writes a sentence, over several lines if it must.
func (d *drawing) line(format string, args ...any) {
	for i, line := range wrap(fmt.Sprintf(format, args...), d.cells-2) {
		if i > 0 {
			line = "  " + line
		}
		d.out.WriteString(line + "\n")
	}
}

func (d *drawing) heading() {
	r := d.r
	d.line("cluster %s · %s", r.Cluster, r.Strategy.text())
	alive := 0
	for i := range r.Nodes {
		if r.Nodes[i].Health == Alive {
			alive++
		}
	}
	words := []string{fmt.Sprintf("%s, %d alive", plural(len(r.Nodes), "node"), alive), plural(r.Ranges, "range")}
	label := labels(d.ids, headingLabel)
	if r.Leader == "" {
		words = append(words, "no leader")
	} else {
		words = append(words, "leader "+label[r.Leader])
	}
	words = append(words, "as "+label[r.Asked]+" sees it", "generation "+r.Generation)
	d.line("%s", strings.Join(words, " · "))
	if r.Leader == "" {
		d.line("! no leader is known: nothing changes hands before a majority of the voters is back")
	}
	if r.Lost > 0 {
		d.line("! %s cannot be reached: no node that has a copy seems to be there", plural(r.Lost, "range"))
	}
	if r.Short > 0 {
		d.line("! %s fewer copies in sync than are wanted", have(r.Short, "range"))
	}
	if of := r.ReplicaOf; of != nil {
		d.line("! a replica of %s, which %s copies: clients only read until REPLICAOF NO ONE", of.Addr, cmp.Or(label[of.Node], of.Node))
	}
	switch {
	case r.Paused && r.Throttle > 0:
		d.line("! the moving of data is paused (RING RESUME), and bounded to %s/s a node (RING THROTTLE 0)", size(r.Throttle))
	case r.Paused:
		d.line("! the moving of data is paused: RING RESUME lets it go on")
	case r.Throttle > 0:
		d.line("the moving of data is bounded to %s/s a node: RING THROTTLE 0 ends that", size(r.Throttle))
	}
}

// text is the strategy with its settings, on a line.
func (s *Strategy) text() string {
	words := []string{s.Name}
	switch s.Name {
	case "buckets":
		words = append(words, "mask "+s.Mask)
	case "ketama":
		words = append(words, plural(s.Points, "point")+" a node", "rule "+s.KetamaRule)
	case "vnode":
		words = append(words, plural(s.VNodes, "point")+" a node")
	case "multiprobe":
		words = append(words, plural(s.Probes, "probe"))
	case "lrh":
		words = append(words, plural(s.Candidates, "candidate"))
	case "bounded":
		words = append(words, fmt.Sprintf("slack %v", s.Slack))
	}
	words = append(words, "hash "+s.Hash)
	if s.ExactTo != "" {
		words = append(words, "exact to "+s.ExactTo)
	}
	return strings.Join(append(words, plural(s.Backups, "backup")), ", ")
}

// A column of a table; more is its place in the order in which columns are left out
// where they do not all fit: 0 stays.
type column[T any] struct {
	head string
	left bool // aligned to the left
	more int
	get  func(*T) string
}

// tabulate draws a table with as many columns as fit, the names of nodes as long as
// they can be.
func tabulate[T any](d *drawing, rows []T, columns func(label map[string]string) []column[T]) string {
	drawn := ""
	for _, names := range [][]int{{255, 24, 18, 12}, {8}} {
		for more := 9; more >= 0; more-- {
			for _, cells := range names {
				shown := columns(labels(d.ids, cells))
				shown = slices.DeleteFunc(shown, func(c column[T]) bool { return c.more > more })
				if drawn = render(rows, shown); fits(drawn, d.cells) {
					return drawn
				}
			}
		}
	}
	// Only a report that makes no sense gets here.
	var clipped strings.Builder
	for line := range strings.Lines(drawn) {
		clipped.WriteString(strings.TrimRight(clip(strings.TrimSuffix(line, "\n"), d.cells), " ") + "\n")
	}
	return clipped.String()
}

func fits(text string, cells int) bool {
	for line := range strings.Lines(text) {
		if width(strings.TrimSuffix(line, "\n")) > cells {
			return false
		}
	}
	return true
}

func render[T any](rows []T, columns []column[T]) string {
	w := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", " "
	style.Format.Header = gotext.FormatDefault
	w.SetStyle(style)
	w.SuppressTrailingSpaces()
	var head table.Row
	var configs []table.ColumnConfig
	for i, c := range columns {
		align := gotext.AlignRight
		if c.left {
			align = gotext.AlignLeft
		}
		head = append(head, c.head)
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
	}
	w.AppendHeader(head)
	w.SetColumnConfigs(configs)
	for i := range rows {
		var row table.Row
		for _, c := range columns {
			row = append(row, printable(c.get(&rows[i])))
		}
		w.AppendRow(row)
	}
	return w.Render() + "\n"
}

func (d *drawing) nodes() {
	d.out.WriteString("\n" + tabulate(d, d.r.Nodes, d.nodeColumns))
}

func (d *drawing) nodeColumns(label map[string]string) []column[Node] {
	number := func(n int) string { return strconv.Itoa(n) }
	known := func(n *Node, text string) string {
		if !n.Answered {
			return none
		}
		return text
	}
	equal := func(get func(*Node) string) bool {
		return !slices.ContainsFunc(d.r.Nodes, func(n Node) bool { return get(&n) != get(&d.r.Nodes[0]) })
	}
	weight := func(n *Node) string {
		if n.Role != "store" {
			return none
		}
		return strconv.FormatFloat(n.Weight, 'g', 4, 64)
	}
	rate := func(n *Node, text func(*Load) string) string {
		if !n.Answered || n.Load == nil || n.Role != "store" {
			return none
		}
		return text(n.Load)
	}
	version := func(n *Node) string { return clip(printable(n.Version), 16) }
	columns := []column[Node]{
		{head: "node", left: true, get: func(n *Node) string { return label[n.ID] }},
		{head: "state", left: true, get: d.state},
		{head: "address", left: true, more: 6, get: func(n *Node) string { return clip(printable(n.Addr), 28) }},
		{head: "weight", more: 7, get: weight},
		{head: "P", get: func(n *Node) string { return number(n.Primaries) }},
		{head: "S", get: func(n *Node) string { return number(n.Backups) }},
		{head: "share %", get: func(n *Node) string { return percent(n.Share) }},
		{head: "keys", get: func(n *Node) string { return known(n, count(n.Keys)) }},
		{head: "bytes", get: func(n *Node) string { return known(n, size(n.Bytes)) }},
		{head: "ops/s", more: 2, get: func(n *Node) string { return rate(n, func(l *Load) string { return count(int64(l.Ops + .5)) }) }},
		{head: "bytes/s", more: 3, get: func(n *Node) string { return rate(n, func(l *Load) string { return size(int64(l.Bytes + .5)) }) }},
		{head: "vote", left: true, more: 5, get: d.vote},
		{head: "version", left: true, more: 8, get: version},
	}
	if !equal(weight) {
		columns[3].more = 1
	}
	if !equal(version) {
		columns[12].more = 4
	}
	if !slices.ContainsFunc(d.r.Nodes, func(n Node) bool { return n.Load != nil }) {
		columns = slices.Delete(columns, 9, 11)
	}
	if slices.ContainsFunc(d.r.Nodes, func(n Node) bool { return n.Zone != "" }) {
		zone := func(n *Node) string { return cmp.Or(clip(printable(n.Zone), 24), none) }
		columns = slices.Insert(columns, 3, column[Node]{head: "zone", left: true, get: zone})
	}
	return columns
}

// state is what matters most about a node, in a word or two.
func (d *drawing) state(n *Node) string {
	switch {
	case n.Health == Failed, n.Health == Left:
		if n.Since == nil {
			return n.Health
		}
		return n.Health + " " + d.ago(*n.Since)
	case n.Health == Unseen:
		return "not seen"
	case n.State == Stray:
		return "stray"
	case !n.Answered:
		return "no answer"
	case n.State == Joining, n.State == Leaving:
		return n.State
	case n.Role == "proxy", n.Role == "witness":
		return n.Role
	}
	return n.Health
}

func (d *drawing) vote(n *Node) string {
	switch {
	case n.ID == d.r.Leader:
		return "leader"
	case n.Voter:
		return "yes"
	}
	return ""
}

func (d *drawing) ago(t time.Time) string { return span(d.r.At.Sub(t)) }

// remarks say what is not as it should be.
func (d *drawing) remarks() {
	for _, r := range d.r.Remarks() {
		mark := ""
		if r.Alarm {
			mark = "! "
		}
		d.line("%s%s", mark, r.Text)
	}
	d.scrubbing()
}

// have is a number of things, that have something.
func have(n int, noun string) string {
	if n == 1 {
		return plural(n, noun) + " has"
	}
	return plural(n, noun) + " have"
}

// burden is what no node serves while this one is away.
func (n *Node) burden() string {
	if n.Primaries == 0 {
		return ""
	}
	return "; " + plural(n.Primaries, "range") + " of it cannot be reached, or wait for a backup to take its place"
}
