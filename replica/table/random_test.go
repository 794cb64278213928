package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/ring"
)

// A chaos makes commands of every kind, most of them sensible, some made from an
// old state, some plain nonsense.
type chaos struct {
	*rand.Rand
	now, old *State
}

func (x *chaos) node() string { return nodeID(x.IntN(6)) }

func (x *chaos) nodeOf(list []string) string {
	if len(list) == 0 || x.IntN(8) == 0 {
		return x.node()
	}
	return list[x.IntN(len(list))]
}

func (x *chaos) start(id string) uint64 {
	n, _ := x.now.Node(id)
	if x.IntN(12) == 0 {
		return n.Incarnation - 1 + uint64(x.IntN(3))
	}
	return n.Incarnation
}

// after is the last start of a node as its directory knows it, now and then an old one.
func (x *chaos) after(id string) uint64 {
	n, _ := x.now.Node(id)
	if x.now.Index()%16 == 0 {
		return n.Incarnation + 1
	}
	return n.Incarnation
}

// state is the present one, or now and then an old one.
func (x *chaos) state() *State {
	if x.IntN(8) == 0 {
		return x.old
	}
	return x.now
}

func (x *chaos) row() *Row {
	r, _ := x.state().Row(ring.Token(x.Uint32()))
	return r
}

// seek looks for a row of a kind, so that what is rare is met.
func (x *chaos) seek(which func(*Row) bool) *Row {
	for range 30 {
		if r := x.row(); which(r) {
			return r
		}
	}
	return x.row()
}

func (x *chaos) refs(first *Row) []Ref {
	refs := []Ref{first.Ref()}
	for x.IntN(3) == 0 {
		refs = append(refs, x.row().Ref())
	}
	return refs
}

func (x *chaos) command() Command {
	switch k := kind(x.IntN(int(lastKind) + 1)); k {
	case kindFound:
		return found("n0", 1+x.IntN(40))
	case kindRegister:
		id := x.node()
		return &Register{Node: id, Incarnation: x.start(id) + 1, Role: Role(x.IntN(8) / 7), Weight: float64(x.IntN(3)), Intact: x.IntN(2) == 0, After: x.after(id)}
	case kindSetWeight:
		id := x.node()
		return &SetWeight{id, x.start(id), float64(x.IntN(5))}
	case kindSetPins:
		id := x.node()
		return &SetPins{id, x.start(id), []ring.Token{ring.Token(x.Uint32())}, x.IntN(2) == 0}
	case kindLeave:
		id := x.node()
		if x.IntN(4) > 0 {
			break
		}
		return &Leave{id, x.start(id)}
	case kindForget:
		id := x.node()
		return &Forget{id, x.start(id)}
	case kindPlan:
		return x.plan()
	case kindSetPhase, kindCancelHandoff:
		return x.phase(k)
	case kindAddLearner:
		return x.learner()
	case kindDropLearner:
		r := x.seek(func(r *Row) bool { return len(r.Learners) > 0 })
		return &DropLearner{x.refs(r), x.nodeOf(r.Learners)}
	case kindAdmit:
		r := x.seek(func(r *Row) bool { return len(r.Learners) > 0 })
		id := x.nodeOf(r.Learners)
		return &Admit{x.refs(r)[:1], id, x.start(id)}
	case kindCutOver:
		r := x.seek(func(r *Row) bool { return len(r.Backups) > 0 })
		id := x.nodeOf(r.Backups)
		if x.IntN(3) == 0 {
			if r = x.seek(func(r *Row) bool { return len(r.Learners) > 0 }); len(r.Learners) > 0 {
				id = x.nodeOf(r.Learners)
			}
		}
		return &CutOver{x.refs(r)[:1], id, x.start(id), x.IntN(2) == 0, x.IntN(2) == 0}
	case kindRelease:
		r := x.seek(func(r *Row) bool {
			n, _ := x.state().Node(r.Primary)
			return len(r.Backups) > 1 || len(r.Backups) == 1 && n.Incarnation == r.Incarnation
		})
		return &Release{x.refs(r)[:1], x.nodeOf(r.Backups)}
	case kindSplit:
		r := x.row()
		cut := Cut{Row: r.Ref()}
		for i := range 1 + x.IntN(3) {
			cut.At = append(cut.At, r.Range.Start+ring.Token(r.Range.Len()/8*uint64(i+1)+uint64(x.IntN(2))))
		}
		return &Split{[]Cut{cut}}
	case kindMerge:
		run := Run{}
		r := x.row()
		for range 2 + x.IntN(4) {
			run.Rows = append(run.Rows, r.Ref())
			r, _ = x.state().Row(r.Range.End)
		}
		return &Merge{[]Run{run}}
	case kindFailover:
		return x.failover()
	case kindRecreate:
		id := x.node()
		if x.IntN(4) == 0 {
			return &Recreate{x.refs(x.row())[:1], id, x.start(id)}
		}
	case kindSetMoves:
		return x.moves()
	case kindSetBackups:
		return &SetBackups{x.IntN(300)}
	case kindCompared:
		return x.compared()
	case kindSetStrategy:
		return x.strategy()
	case kindSetLoadBalance:
		return x.loadBalance()
	case kindSetDatabases:
		return x.databases()
	case kindSetPolicy:
		return x.policy()
	case kindSetValues:
		return x.values()
	case kindEndSwitch:
		return &EndSwitch{x.state().Cluster().Since, x.state().Basis()}
	case kindRenew:
		return &Renew{x.refs(x.row())}
	}
	id := x.node()
	return &Register{Node: id, Incarnation: x.start(id) + 1, Intact: true}
}

func (x *chaos) moves() Command {
	var m SetMoves
	if x.IntN(2) == 0 {
		m.Paused = new(x.IntN(2) == 0)
	}
	if x.IntN(2) == 0 {
		m.Throttle = new(int64(x.Uint32()) - 1<<29)
	}
	return &m
}

func (x *chaos) strategy() Command {
	of := x.state().Cluster()
	s := &SetStrategy{Strategy: of.Strategy, After: of.Since}
	s.Strategy.Name = []string{"buckets", "ketama"}[x.IntN(2)]
	s.Strategy.Points = x.IntN(3)
	s.Strategy.Cells = CellSettings{Probes: x.IntN(2), Slack: float64(x.IntN(2)) / 4}
	s.Seated = x.IntN(2) == 0
	for _, n := range x.state().Nodes() {
		if n.State != Gone && x.IntN(40) > 0 {
			s.Starts = append(s.Starts, NodeStart{n.ID, n.Incarnation})
		}
	}
	return s
}

func (x *chaos) loadBalance() Command {
	st := x.state()
	s := &SetLoadBalance{On: x.IntN(2) == 0, After: st.LoadBalance().Since, Strategy: st.Cluster().Since}
	for _, n := range st.Nodes() {
		if n.State != Gone && x.IntN(40) > 0 {
			s.Starts = append(s.Starts, NodeStart{n.ID, n.Incarnation})
		}
	}
	for at := uint64(0); x.IntN(4) > 0; {
		start := at + x.Uint64N(1<<30)
		if at = start + 1 + x.Uint64N(1<<28); at >= circle {
			break
		}
		s.Overrides = append(s.Overrides, ring.Override{Range: ring.Range{Start: ring.Token(start), End: ring.Token(at)}, Node: x.node(), Home: x.node()})
	}
	return s
}

func (x *chaos) databases() Command {
	s := &SetDatabases{Databases: x.IntN(1100)}
	for _, n := range x.state().Nodes() {
		if n.State != Gone && x.IntN(40) > 0 {
			s.Starts = append(s.Starts, NodeStart{n.ID, n.Incarnation})
		}
	}
	return s
}

func (x *chaos) policy() Command {
	n := x.IntN(1 + min(x.state().Databases(), 3))
	s := &SetPolicy{Policy: database.Policy{Number: n, Together: x.IntN(2) == 0}}
	if s.Policy.Together {
		s.Policy.Spot = x.IntN(database.Spots + 1)
	}
	if s.Ends = x.state().Policies().Of(n).Change; s.Ends == 0 || x.IntN(8) == 0 {
		s.Policy.Change = x.Uint64()
	}
	s.Starts = x.databases().(*SetDatabases).Starts
	return s
}

func (x *chaos) values() Command {
	s := &SetValues{Starts: x.databases().(*SetDatabases).Starts}
	for _, name := range []string{"user/a", "user/b", strings.Repeat("n", 300)} {
		if x.IntN(2) == 0 {
			c := agreed.Change{Name: name, Body: strings.Repeat("b", x.IntN(400)), Remove: x.IntN(3) == 0, Was: x.state().Values().Of(name).Version}
			if x.IntN(8) == 0 {
				c.Was++
			}
			s.Changes = append(s.Changes, c)
		}
	}
	return s
}

func (x *chaos) compared() Command {
	c := new(Compared)
	for range x.IntN(4) {
		r := x.row().Range
		if x.IntN(2) == 0 {
			r.Start += ring.Token(x.Uint64N(r.Len()))
		}
		c.Parts = append(c.Parts, Comparison{r, x.Int64N(5)})
	}
	return c
}

func (x *chaos) plan() Command {
	p := &Plan{Basis: x.state().Basis()}
	for _, h := range x.now.Handoffs() {
		if x.IntN(4) > 0 {
			p.Handoffs = append(p.Handoffs, *h)
		}
	}
	for range x.IntN(3) {
		h := Handoff{From: x.node(), To: x.node()}
		for row := range x.state().Rows() {
			if row.Primary == h.From && x.IntN(2) == 0 {
				h.Pieces = append(h.Pieces, ring.Piece{Range: row.Range, Primary: x.IntN(2) == 0, Release: []string{"", row.Primary, x.nodeOf(row.Backups), h.To}[x.IntN(4)]})
			}
		}
		p.Handoffs = append(p.Handoffs, h)
	}
	return p
}

func (x *chaos) phase(k kind) Command {
	hs := x.now.Handoffs()
	if len(hs) == 0 {
		return &CancelHandoff{uint64(x.IntN(5))}
	}
	h := hs[x.IntN(len(hs))]
	if k == kindCancelHandoff && x.IntN(4) > 0 {
		return &CancelHandoff{h.ID}
	}
	return &SetPhase{h.ID, h.Phase, Phase(x.IntN(5))}
}

func (x *chaos) learner() Command {
	hs := x.now.Handoffs()
	r := x.row()
	id := x.node()
	c := &AddLearner{Rows: x.refs(r), Node: id, Incarnation: x.start(id)}
	if len(hs) > 0 && x.IntN(4) > 0 {
		h := hs[x.IntN(len(hs))]
		r, _ = x.now.Row(h.Pieces[x.IntN(len(h.Pieces))].Range.Start)
		c = &AddLearner{Rows: []Ref{r.Ref()}, Node: h.To, Incarnation: x.start(h.To), Handoff: h.ID}
	}
	return c
}

func (x *chaos) failover() Command {
	id := x.node()
	f := &Failover{Node: id, Incarnation: x.start(id), Stays: x.IntN(4) == 0}
	for row := range x.state().Rows() {
		if !row.Holds(id) || len(row.Backups) == 0 || x.IntN(3) > 0 {
			continue
		}
		set := slices.Collect(row.Copies())
		if !f.Stays || x.IntN(4) == 0 {
			set = slices.DeleteFunc(set, func(n string) bool { return n == id })
		}
		if row.Primary == id {
			x.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
		}
		f.Rows = append(f.Rows, Succession{row.Ref(), set[0], set[1:]})
	}
	return f
}

// Whatever is thrown at the table, its invariants hold, epochs and versions never
// fall for any token, a refusal changes nothing, and another node that applies the
// same log has the same bytes.
func TestRandomCommandsKeepTheInvariants(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector")
	}
	runs, length := 20, 2300
	applied, refused := map[string]int{}, map[string]int{}
	for seed := range runs {
		x := &chaos{Rand: rand.New(rand.NewPCG(uint64(seed), 4)), now: new(State), old: new(State)}
		x.now = steps(t, x.now, found("n0", 1+x.IntN(40)))
		x.old = x.now
		var log [][]byte
		log = append(log, nil)
		first := mustBytes(t, x.now)
		index := x.now.Index()
		for range length {
			index++
			command := x.command()
			entry := Encode(command)
			log = append(log, entry)
			name := fmt.Sprintf("%T", command)
			before := mustBytes(t, x.now)
			next, err := x.now.Apply(index, command)
			if err != nil {
				refused[name]++
				if !IsRefused(err) {
					t.Fatalf("seed %d: %T: %v is no refusal", seed, command, err)
				}
				if next != x.now {
					t.Fatalf("seed %d: a refused %T returned another state", seed, command)
				}
				continue
			}
			applied[name]++
			if mustBytes(t, x.now) != before {
				t.Fatalf("seed %d: %T changed the state that it was applied to", seed, command)
			}
			if err := next.Check(); err != nil {
				t.Fatalf("seed %d: after %s %+v: %v", seed, name, command, err)
			}
			_, anew := command.(*Recreate)
			compareTokens(t, x.now, next, anew)
			if x.IntN(40) == 0 {
				x.old = x.now
			}
			x.now = next
		}
		replay(t, first, log, mustBytes(t, x.now), x.now.Index())
	}
	for k := kindFound + 1; k <= lastKind; k++ {
		if name := fmt.Sprintf("%T", k.make()); applied[name] < runs || refused[name] == 0 {
			t.Errorf("%s: applied %d times, refused %d times, which tests little", name, applied[name], refused[name])
		}
	}
}

// compareTokens goes over the pieces of both states' rows.
func compareTokens(t *testing.T, was, is *State, anew bool) {
	t.Helper()
	for r := range ring.Overlay(was.Placement(), is.Placement()) {
		a, _ := was.Row(r.Start)
		b, _ := is.Row(r.Start)
		switch {
		case b.Epoch < a.Epoch || b.Version < a.Version:
			t.Fatalf("%v: from epoch %d, version %d to %d, %d", r, a.Epoch, a.Version, b.Epoch, b.Version)
		case b.Epoch == a.Epoch && (a.Range != b.Range || a.Primary != b.Primary || a.Incarnation != b.Incarnation):
			t.Fatalf("%v: new bounds or primary under the old epoch: %+v, %+v", r, a, b)
		case b.Version == a.Version && !sameRow(a, b):
			t.Fatalf("%v: a change under the old version: %+v, %+v", r, a, b)
		case b.Lineage < a.Lineage || b.Lineage != a.Lineage && !anew:
			t.Fatalf("%v: lineage from %d to %d", r, a.Lineage, b.Lineage)
		}
	}
}

func sameRow(a, b *Row) bool {
	return a.Ref() == b.Ref() && a.Primary == b.Primary && slices.Equal(a.Backups, b.Backups) && slices.Equal(a.Learners, b.Learners) && a.Op == b.Op
}

// replay applies a log as another node would, through bytes, with a snapshot in the
// middle.
func replay(t *testing.T, first string, log [][]byte, want string, last uint64) {
	t.Helper()
	s := new(State)
	if err := s.UnmarshalBinary([]byte(first)); err != nil {
		t.Fatal(err)
	}
	index := s.Index()
	for i, entry := range log[1:] {
		command, err := Decode(entry)
		if err != nil {
			t.Fatal(err)
		}
		if again := Encode(command); string(again) != string(entry) {
			t.Fatalf("%T is coded differently the second time", command)
		}
		index++
		s, _ = s.Apply(index, command)
		if i == len(log)/2 {
			middle := new(State)
			if err := middle.UnmarshalBinary([]byte(mustBytes(t, s))); err != nil {
				t.Fatal(err)
			}
			s = middle
		}
	}
	if s.Index() != last || mustBytes(t, s) != want {
		t.Fatal("a replay of the same commands has other bytes")
	}
}
