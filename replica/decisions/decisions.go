package decisions

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

const (
	// kept is how many decisions are kept.
	kept = 500
	// gathered is for how long decisions of the same kind become one, and recent how many decisions back such a one may be.
	gathered, recent = 5 * time.Second, 8
)

// A Decision is something that the cluster has agreed on.
type Decision struct {
	// At is the time on the clock of the leader then.
	At time.Time `json:"at"`
	// Text is one sentence without a full stop.
	Text string `json:"text"`

	about  string // the text with the ranges' mark: the same for decisions that may become one
	ranges int
}

// A Log has the last decisions. Its methods may be called from any goroutine. The zero value is empty.
type Log struct {
	mu  sync.Mutex
	all []Decision // the oldest first
}

// Last returns the decisions, the newest first.
func (l *Log) Last() []Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := append([]Decision{}, l.all...) // never nil: JSON has a list
	slices.Reverse(last)
	return last
}

// Text returns the n newest decisions, the newest first: each on a line, behind its time in UTC.
func (l *Log) Text(n int) string {
	var b strings.Builder
	all := l.Last()
	for _, d := range all[:min(n, len(all))] {
		fmt.Fprintf(&b, "%s  %s\n", d.At.UTC().Format("2006-01-02 15:04:05"), d.Text)
	}
	return b.String()
}

// Note adds what a command has decided, of the states before and after it. It is called in the order of the commands.
func (l *Log) Note(at time.Time, c table.Command, before, after *table.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := noter{l, at, before, after}
	n.command(c)
}

// A noter notes the decisions of one command.
type noter struct {
	log           *Log
	at            time.Time
	before, after *table.State
}

// add adds a decision.
func (n *noter) add(format string, args ...any) { n.put(Decision{Text: fmt.Sprintf(format, args...)}) }

// mark stands for the ranges in a text; no name of a node has it.
const mark = "\x00"

// addRanges adds a decision about some ranges, whose format has %r for them, to one of its kind if that is recent.
func (n *noter) addRanges(ranges int, format string, args ...any) {
	if ranges == 0 {
		return
	}
	about := fmt.Sprintf(strings.Replace(format, "%r", mark, 1), args...)
	all := n.log.all
	for i := len(all) - 1; i >= 0 && i >= len(all)-recent; i-- {
		if d := &all[i]; d.about == about && n.at.Sub(d.At) <= gathered {
			d.ranges += ranges
			d.Text = strings.Replace(about, mark, counted(d.ranges), 1)
			return
		}
	}
	n.put(Decision{Text: strings.Replace(about, mark, counted(ranges), 1), about: about, ranges: ranges})
}

func (n *noter) put(d Decision) {
	d.At = n.at
	if n.log.all = append(n.log.all, d); len(n.log.all) > kept {
		n.log.all = slices.Delete(n.log.all, 0, len(n.log.all)-kept)
	}
}

func counted(ranges int) string {
	if ranges == 1 {
		return "1 range"
	}
	return fmt.Sprint(ranges, " ranges")
}

func (n *noter) command(c table.Command) {
	switch c := c.(type) {
	case *table.Found:
		n.add("node %s founded the cluster", c.Node)
	case *table.Register:
		n.register(c)
	case *table.SetWeight:
		n.add("node %s has the weight %v", c.Node, c.Weight)
	case *table.SetPins:
		n.add("node %s has %d pins", c.Node, len(c.Pins))
	case *table.Leave:
		n.add("node %s is leaving: it hands its ranges over", c.Node)
	case *table.Forget:
		if was, _ := n.before.Node(c.Node); was.State == table.Leaving {
			n.add("node %s left the cluster", c.Node)
		} else {
			n.add("node %s is forgotten", c.Node)
		}
	case *table.Failover:
		n.failover(c)
	case *table.Recreate:
		n.addRanges(len(c.Rows), "node %s serves %r anew and empty: all their copies were lost", c.Node)
	case *table.Plan:
		n.plan()
	case *table.SetPhase:
		if h, ok := n.before.Handoff(c.Handoff); ok && c.To == table.Done {
			n.add("handoff %d is done: %s from %s to %s", h.ID, counted(len(h.Pieces)), h.From, h.To)
		}
	case *table.CancelHandoff:
		n.add("handoff %d is cancelled", c.Handoff)
	case *table.Admit:
		n.addRanges(len(c.Rows), "node %s is an in-sync backup of %r", c.Node)
	case *table.Release:
		n.addRanges(len(c.Rows), "node %s is no backup of %r any more", c.Node)
	case *table.CutOver:
		n.cutOver(c)
	case *table.Split:
		n.addRanges(len(c.Cuts), "split of %r")
	case *table.Merge:
		n.addRanges(len(c.Runs), "merge of neighbours into %r")
	default:
		n.settings(c)
	}
}

// settings are commands of operators about the whole cluster.
func (n *noter) settings(c table.Command) {
	switch c := c.(type) {
	case *table.SetMoves:
		if c.Paused != nil && *c.Paused {
			n.add("handoffs are paused")
		} else if c.Paused != nil {
			n.add("handoffs go on")
		}
		if c.Throttle != nil && *c.Throttle > 0 {
			n.add("handoffs may send %d bytes a second", *c.Throttle)
		} else if c.Throttle != nil {
			n.add("handoffs may send any number of bytes a second")
		}
	case *table.SetBackups:
		n.add("each range is to have %d backups", c.Backups)
	case *table.SetStrategy:
		n.add("the strategy becomes %s", c.Strategy.Name)
	case *table.EndSwitch:
		n.add("all ranges lie as the strategy %s wants", n.after.Cluster().Strategy.Name)
	case *table.SetLoadBalance:
		if on := n.after.LoadBalance().On; on != n.before.LoadBalance().On {
			n.add("balancing by load is %s", map[bool]string{true: "on", false: "off"}[on])
		}
		if now, was := n.after.LoadBalance().Overrides, n.before.LoadBalance().Overrides; !slices.Equal(now, was) {
			n.add("%s lie elsewhere than the strategy wants, to even the load", counted(len(now)))
		}
	case *table.SetDatabases:
		n.add("there are %d databases", c.Databases)
	case *table.SetPolicy:
		if p := c.Policy; c.Ends == 0 {
			n.add("the policy of database %d is being changed", p.Number)
		} else {
			n.add("the keys of database %d are %s", p.Number, map[bool]string{true: "together", false: "spread"}[p.Together])
		}
	case *table.SetValues:
		// Their names may be those of users, which not everybody who sees the decisions may know.
		kinds := make(map[string]int)
		for _, change := range c.Changes {
			if change.Name == orderName {
				n.add("%s", orderText(change.Body))
				continue
			}
			kind, _, _ := strings.Cut(change.Name, "/")
			kinds[strings.TrimSuffix(kind, "s")]++
		}
		for _, kind := range sorted(kinds) {
			n.add("settings of the cluster are changed: %s", kind)
		}
	}
}

func (n *noter) register(r *table.Register) {
	was, ok := n.before.Node(r.Node)
	switch {
	case !ok || was.State == table.Gone:
		n.add("node %s joined as a %v", r.Node, r.Role)
	case r.Intact:
		n.add("node %s was started again", r.Node)
	case r.Incarnation == was.Incarnation+1: // the founder registers under the next number
	default:
		n.add("node %s was started again, and may have lost acknowledged writes", r.Node)
	}
}

// failover tells by what others have replaced a node.
func (n *noter) failover(f *table.Failover) {
	primaries := make(map[string]int)
	for _, s := range f.Rows {
		if row, ok := n.before.Row(s.Row.Range.Start); ok && row.Primary == f.Node && s.Primary != f.Node {
			primaries[s.Primary]++
		}
	}
	if !f.Stays {
		n.add("node %s failed", f.Node)
	}
	for _, id := range sorted(primaries) {
		n.addRanges(primaries[id], "node %s became the primary of %r of node %s", id, f.Node)
	}
}

// cutOver tells from whom a node has taken ranges over.
func (n *noter) cutOver(o *table.CutOver) {
	from := make(map[string]int)
	for _, ref := range o.Rows {
		if row, ok := n.before.Row(ref.Range.Start); ok && row.Primary != o.To {
			from[row.Primary]++
		}
	}
	for _, id := range sorted(from) {
		n.addRanges(from[id], "node %s became the primary of %r of node %s", o.To, id)
	}
}

// plan tells which handoffs are new, and which are not wanted any more.
func (n *noter) plan() {
	for _, h := range n.after.Handoffs() {
		if _, ok := n.before.Handoff(h.ID); !ok {
			n.add("handoff %d is planned: %s from %s to %s", h.ID, counted(len(h.Pieces)), h.From, h.To)
		}
	}
	for _, h := range n.before.Handoffs() {
		if _, ok := n.after.Handoff(h.ID); !ok {
			n.add("handoff %d is not wanted any more", h.ID)
		}
	}
}

func sorted(counts map[string]int) []string {
	ids := make([]string, 0, len(counts))
	for id := range counts {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
