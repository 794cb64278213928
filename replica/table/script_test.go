package table

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ringside-kv/ringside/ring"
)

// TestScripts runs the scripts of testdata; go test -rewrite accepts what they print.
// Ranges are named by the first hexadecimal digit of their start, as in rows=(0,8); a
// node's incarnation is its registered one unless start= is given, and a row is
// compared with what it is now, or was at the last mark with old.
//
//	found node=ID rows=N
//	register node=ID start=N [intact] [proxy] [weight=W]
//	leave | forget | weight node=ID [start=N] [weight=W]
//	plan [old] followed by lines FROM TO START-END[:primary][:release=ID] …, or ID FROM TO … for one that stays
//	phase id=N to=copying|insync|serving|done
//	cancel id=N
//	learn | drop | admit | cutover | release rows=(S,…) node=ID [start=N] [handoff=N] [leave] [admit] [old]
//	split row=S at=(S,…) [old]
//	merge rows=(S,…) [old]
//	failover node=ID [stays] followed by lines S PRIMARY [BACKUP …]
//	recreate rows=… node=ID
//	moves [pause] [resume] [throttle=N]
//	backups n=N
//	renew rows=… [old]
//	mark
//	show
//
// What is refused prints why; anything else prints the table.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "fuzz") {
			return
		}
		s := &script{now: new(State)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

type script struct{ now, marked *State }

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "mark":
		s.marked = s.now
		return ""
	case "show":
		return s.draw()
	}
	next, err := s.now.Apply(s.now.Index()+1, s.command(t, d))
	if err != nil {
		for _, r := range refusals {
			if errors.Is(err, r) {
				return "refused: " + r.Error() + "\n"
			}
		}
		return err.Error()
	}
	if err := next.Check(); err != nil {
		return err.Error()
	}
	s.now = next
	return s.draw()
}

// An args reads a command's arguments.
type args struct {
	s *script
	d *datadriven.TestData
	t *testing.T
}

func (a args) text(key string) string {
	v := ""
	a.d.MaybeScanArgs(a.t, key, &v)
	return v
}

func (a args) number(key string, otherwise uint64) uint64 {
	n, err := strconv.ParseUint(a.text(key), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

func (a args) start() uint64 {
	n, _ := a.s.now.Node(a.text("node"))
	return a.number("start", n.Incarnation)
}

func (a args) state() *State {
	if a.d.HasArg("old") {
		return a.s.marked
	}
	return a.s.now
}

func (a args) ref(digit string) Ref {
	row, _ := a.state().Row(token(digit))
	return row.Ref()
}

func (a args) refs() []Ref {
	var refs []Ref
	for _, arg := range a.d.CmdArgs {
		if arg.Key == "rows" {
			for _, digit := range arg.Vals {
				refs = append(refs, a.ref(digit))
			}
		}
	}
	return refs
}

func token(digit string) ring.Token {
	n, _ := strconv.ParseUint(digit+strings.Repeat("0", 8-len(digit)), 16, 32)
	return ring.Token(n)
}

var phases = map[string]Phase{"copying": Copying, "insync": InSync, "serving": Serving, "done": Done}

func (s *script) command(t *testing.T, d *datadriven.TestData) Command {
	a := args{s, d, t}
	node := a.text("node")
	weight, _ := strconv.ParseFloat(a.text("weight"), 64)
	switch d.Cmd {
	case "found":
		return found(node, int(a.number("rows", 1)))
	case "register":
		r := &Register{Node: node, Incarnation: a.start(), Server: a.text("server"), Intact: d.HasArg("intact"), Weight: weight}
		if d.HasArg("proxy") {
			r.Role = Proxy
		}
		return r
	case "leave":
		return &Leave{node, a.start()}
	case "forget":
		return &Forget{node, a.start()}
	case "weight":
		return &SetWeight{node, a.start(), weight}
	case "plan":
		return s.plan(a)
	case "phase":
		id := a.number("id", 0)
		var from Phase
		if h, ok := s.now.Handoff(id); ok {
			from = h.Phase
		}
		return &SetPhase{id, from, phases[a.text("to")]}
	case "cancel":
		return &CancelHandoff{a.number("id", 0)}
	case "learn":
		return &AddLearner{a.refs(), node, a.start(), a.number("handoff", 0)}
	case "drop":
		return &DropLearner{a.refs(), node}
	case "admit":
		return &Admit{a.refs(), node, a.start()}
	case "cutover":
		return &CutOver{a.refs(), node, a.start(), d.HasArg("leave"), d.HasArg("admit")}
	case "release":
		return &Release{a.refs(), node}
	case "split":
		cut := Cut{Row: a.ref(a.text("row"))}
		for _, arg := range d.CmdArgs {
			if arg.Key == "at" {
				for _, digit := range arg.Vals {
					cut.At = append(cut.At, token(digit))
				}
			}
		}
		return &Split{[]Cut{cut}}
	case "merge":
		return &Merge{[]Run{{a.refs()}}}
	case "failover":
		f := &Failover{Node: node, Incarnation: a.start(), Stays: d.HasArg("stays")}
		for line := range strings.Lines(d.Input) {
			words := strings.Fields(line)
			f.Rows = append(f.Rows, Succession{a.ref(words[0]), words[1], words[2:]})
		}
		return f
	case "recreate":
		return &Recreate{a.refs(), node, a.start()}
	case "moves":
		m := &SetMoves{}
		if d.HasArg("pause") || d.HasArg("resume") {
			m.Paused = new(d.HasArg("pause"))
		}
		if n, err := strconv.ParseInt(a.text("throttle"), 10, 64); err == nil {
			m.Throttle = &n
		}
		return m
	case "backups":
		n, _ := strconv.Atoi(a.text("n"))
		return &SetBackups{n}
	case "renew":
		return &Renew{a.refs()}
	}
	d.Fatalf(t, "unknown command %s", d.Cmd)
	return nil
}

func (s *script) plan(a args) Command {
	p := &Plan{Basis: a.state().Basis()}
	for line := range strings.Lines(a.d.Input) {
		words := strings.Fields(line)
		h := Handoff{}
		if id, err := strconv.ParseUint(words[0], 10, 64); err == nil {
			h.ID, words = id, words[1:]
		}
		h.From, h.To = words[0], words[1]
		for _, word := range words[2:] {
			parts := strings.Split(word, ":")
			start, end, _ := strings.Cut(parts[0], "-")
			piece := ring.Piece{Range: ring.Range{Start: token(start), End: token(end)}, Primary: slices.Contains(parts, "primary")}
			for _, part := range parts {
				if id, ok := strings.CutPrefix(part, "release="); ok {
					piece.Release = id
				}
			}
			h.Pieces = append(h.Pieces, piece)
		}
		p.Handoffs = append(p.Handoffs, h)
	}
	return p
}

func (s *script) draw() string {
	var b strings.Builder
	if moves := s.now.Cluster().Moves; moves != (Moves{}) {
		fmt.Fprintf(&b, "moves: paused %v, %d bytes a second\n", moves.Paused, moves.Throttle)
	}
	if n := s.now.Cluster().Backups; n != 1 {
		fmt.Fprintf(&b, "backups: %d\n", n)
	}
	for _, n := range s.now.Nodes() {
		fmt.Fprintf(&b, "%s: %v %v, start %d\n", n.ID, n.State, n.Role, n.Incarnation)
	}
	for _, h := range s.now.Handoffs() {
		fmt.Fprintf(&b, "handoff %d from %s to %s: %v, %d pieces\n", h.ID, h.From, h.To, h.Phase, len(h.Pieces))
	}
	for r := range s.now.Rows() {
		fmt.Fprintf(&b, "%v epoch %d: %s", r.Range, r.Epoch, r.Primary)
		for _, n := range r.Backups {
			b.WriteString(" + " + n)
		}
		for i, n := range r.Learners {
			fmt.Fprintf(&b, " < %s as %d", n, r.Starts[i])
		}
		if r.Op.Handoff != 0 {
			fmt.Fprintf(&b, "; handoff %d is %v at %s", r.Op.Handoff, r.Op.Phase, r.Op.To)
		}
		if s.now.Lost(r) {
			b.WriteString("; lost")
		}
		if r.Lineage > 1 {
			fmt.Fprintf(&b, "; lineage %d", r.Lineage)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
