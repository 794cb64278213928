package feed

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// The model: nodes that decide by the real rules — the table's state machine, a primary's
// office, a member's standing, holders and granters of leases, succession — over a network,
// clocks and a group that decides, which are as bad as they may be. What happens next is
// chosen step by step, so that any order is possible; and clients append to lists, by which
// every lost, repeated or unread change shows at once.

// A chooser decides what happens next.
type chooser interface{ IntN(n int) int }

// leftOut are rules that are left out.
type leftOut struct {
	feed  rules.Set
	lease lease.Rules
	model modelRules
}

// modelRules are those that lie in effects, which are the model's own.
type modelRules struct {
	readsAtOnce  bool // reads do not wait for what they show
	noLeaseCheck bool // replies leave without a look at the lease
	noHold       bool // a cutover without holding the row
	noDrain      bool // a cutover without waiting for the members
	guess        bool // a primary goes on after a cutover of unknown outcome
	lossIsIntact bool // a node that lost data says that it has all
	anyOffice    bool // what was found out in one term of office is gone by in the next
	staleStreams bool // copies of whoever was the primary are taken in
	earlyStreams bool // copies are taken in by a state that is older than them
	askOnce      bool // what members answered for one entry counts for the next
}

// modelTokens are those that the model's keys have.
var modelTokens = []ring.Token{0x1000_0000, 0x5000_0000, 0x9000_0000, 0xd000_0000}

// modelTimes are those that may go by at once.
var modelTimes = []time.Duration{10e6, 30e6, 100e6, 250e6, 500e6, 900e6, 1500e6}

type world struct {
	chooser
	out    leftOut
	weight map[string]int
	now    time.Duration
	trace  []string
	steps  int

	// plain: crashes lose nothing, who starts knows what it knew, and leaders are asked
	// without fail. quiet: nothing is noted of what happens;
	// unnamed: nor do actions have names.
	plain, quiet, unnamed bool
	// power: crashes may lose data, also where all else is plain.
	power bool

	times []time.Duration // that may pass
	only  map[string]bool // classes of what is looked for; nil: all

	states   []*table.State
	history  []uint64       // prints of what led to each of them
	starts   map[uint64]int // the length of the log when a term began
	term     uint64
	proposed []*proposal

	nodes []*mnode
	mail  []*letter
	cut   map[[2]string]bool
	past  map[ring.Token]*past
	ids   uint64
	loose []*mconn // all connections of which something may still arrive
	wrong string
	count map[string]int // of what has happened
}

// A letter is a message that may take any time, or get lost.
type letter struct {
	from, to string
	name     string
	deliver  func(to *mnode)
	about    []any
}

// A proposal is one that the group may decide, at any time or never.
type proposal struct {
	by      string
	start   uint64 // incarnation of the proposer
	command table.Command
	term    uint64 // 0: any
	done    func(err error, known bool)
	gone    bool
	about   []any
}

func newWorld(c chooser, out leftOut, nodes, backups int) *world {
	w := &world{
		chooser: c, out: out, weight: map[string]int{}, starts: map[uint64]int{}, cut: map[[2]string]bool{},
		count: map[string]int{}, past: map[ring.Token]*past{}, now: time.Hour,
		times: modelTimes,
	}
	for _, t := range modelTokens {
		w.past[t] = new(past)
	}
	w.states, w.history = []*table.State{new(table.State)}, []uint64{0}
	half := ring.Token(1 << 31)
	w.apply(&table.Found{
		Cluster: table.Cluster{Name: "model", Generation: 1, Strategy: table.Settings{Name: "vnode"}, Backups: backups},
		Node:    "a", Incarnation: 1, Server: "a", Weight: 1,
		Rows: []ring.Row{
			{Range: ring.Range{Start: 0, End: half}, Epoch: 1, Primary: "a"},
			{Range: ring.Range{Start: half, End: 0}, Epoch: 1, Primary: "a"},
		},
	})
	for i := range nodes {
		n := &mnode{w: w, id: string(rune('a' + i)), data: map[ring.Token][]uint64{}}
		// Clocks that differ by up to 8 % at any time, and in what they show.
		n.rate, n.offset = 0.96+0.08*float64(w.IntN(101))/100, time.Duration(w.IntN(3600))*time.Second
		w.nodes = append(w.nodes, n)
		if i > 0 {
			w.apply(&table.Register{Node: n.id, Incarnation: 1, Server: n.id, Weight: 1, Intact: true})
		}
	}
	w.start()
	return w
}

// start has all nodes begin, with the state as it is.
func (w *world) start() {
	for _, n := range w.nodes {
		n.begin(1)
		n.applied = len(w.states) - 1
	}
	for _, n := range w.nodes {
		n.turn()
	}
}

func (w *world) state() *table.State { return w.states[len(w.states)-1] }

func (w *world) node(id string) *mnode {
	return w.nodes[slices.IndexFunc(w.nodes, func(n *mnode) bool { return n.id == id })]
}

func (w *world) apply(c table.Command) error {
	st := w.state()
	next, err := st.Apply(st.Index()+1, c)
	if err == nil {
		w.states = append(w.states, next)
		w.history = append(w.history, printOf(w.history, fmt.Sprintf("%+v", c)))
	}
	return err
}

// name is what an action is called, if somebody may read it.
func (w *world) name(format string, args ...any) string {
	if w.unnamed {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func (w *world) say(format string, args ...any) {
	if w.quiet {
		return
	}
	w.trace = append(w.trace, fmt.Sprintf("%9.3fs ", w.now.Seconds()-3600)+fmt.Sprintf(format, args...))
}

func (w *world) fail(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
		w.say("WRONG: %s", w.wrong)
	}
}

// last is the end of what happened.
func (w *world) last(n int) string {
	return strings.Join(w.trace[max(0, len(w.trace)-n):], "\n")
}

func (w *world) linked(a, b string) bool { return !w.cut[[2]string{a, b}] }

func (w *world) send(from, to, name string, deliver func(*mnode), about ...any) {
	w.mail = append(w.mail, &letter{from, to, name, deliver, about})
}

// propose hands a command to the group. done is called, if the proposer still runs, with
// what it gets to know; known tells whether that is final.
func (n *mnode) propose(c table.Command, term uint64, done func(err error, known bool), about ...any) *proposal {
	p := &proposal{by: n.id, start: n.start, command: c, term: term, done: done, about: about}
	n.w.proposed = append(n.w.proposed, p)
	return p
}

func (w *world) tell(p *proposal, err error, known bool) {
	if n := w.node(p.by); n.up && n.start == p.start && p.done != nil {
		done := p.done
		p.done = nil
		done(err, known)
	}
}

// An action is something that may happen now.
type action struct {
	class string
	name  string
	do    func()
	at    int // among those of its class, if it was looked for
}

func act(class, name string, do func()) action { return action{class: class, name: name, do: do} }

// step lets one thing happen.
func (w *world) step() {
	w.steps++
	all := w.actions()
	total := 0
	for _, a := range all {
		total += w.weightOf(a.class)
	}
	if total == 0 {
		return
	}
	at := w.IntN(total)
	for _, a := range all {
		if at -= w.weightOf(a.class); at < 0 {
			w.say("%s: %s", a.class, a.name)
			w.count[a.class]++
			a.do()
			w.check()
			return
		}
	}
}

var weights = map[string]int{
	"time": 100, "apply": 300, "decide": 600, "lose": 8, "unsure": 8, "deliver": 300, "drop": 8, "ask lease": 60,
	"elect": 1, "learn of": 20, "supersede": 60, "task": 300, "connect": 200, "push": 300, "take": 300, "hear": 300, "break": 4,
	"write": 60, "read": 40, "reply": 100, "crash": 1, "start": 30, "cut": 4, "heal": 20, "learner": 30,
	"overdue": 100, "dismiss": 100, "handover": 4, "handoff": 3, "sweep": 20, "forget": 2, "bounds": 1, "sleep": 2, "wake": 20,
}

func (w *world) weightOf(class string) int {
	if v, ok := w.weight[class]; ok {
		return v
	}
	v, ok := weights[class]
	if !ok {
		panic("no weight of " + class)
	}
	return v
}

func (w *world) actions() []action {
	var all []action
	add := func(class, name string, do func()) {
		if w.looks(class) {
			all = append(all, act(class, name, do))
		}
	}
	add("time", "passes", func() {
		w.now += w.times[w.IntN(len(w.times))]
	})
	for i, p := range w.proposed {
		name := w.name("%s %T", p.by, p.command)
		remove := func() { w.proposed = slices.Delete(w.proposed, i, i+1); p.gone = true }
		add("decide", name, func() {
			remove()
			w.decide(p)
		})
		add("lose", name, func() {
			remove()
			w.tell(p, table.ErrUnknownOutcome, false)
		})
		if p.done != nil {
			add("unsure", name, func() { w.tell(p, table.ErrUnknownOutcome, false) })
		}
	}
	for i, l := range w.mail {
		remove := func() { w.mail = slices.Delete(w.mail, i, i+1) }
		to := w.node(l.to)
		if to.awake() && w.linked(l.from, l.to) {
			add("deliver", w.name("%s to %s", l.name, l.to), func() { remove(); l.deliver(to) })
		}
		add("drop", w.name("%s to %s", l.name, l.to), remove)
	}
	for _, n := range w.nodes {
		all = append(all, n.actions()...)
	}
	for _, a := range w.nodes {
		for _, b := range w.nodes {
			if !w.looks("cut") {
				break
			}
			pair := [2]string{a.id, b.id}
			switch {
			case a == b:
			case w.cut[pair]:
				add("heal", a.id+b.id, func() { delete(w.cut, pair) })
			case len(w.cut) < 4:
				add("cut", a.id+b.id, func() {
					w.cut[pair] = true
					if w.IntN(2) == 0 {
						w.cut[[2]string{b.id, a.id}] = true
					}
				})
			}
		}
	}
	if w.looks("learner") {
		all = append(all, w.planning()...)
	}
	if w.looks("handoff") {
		all = append(all, w.handoffs()...)
	}
	return all
}

// looks reports whether actions of a class are looked for.
func (w *world) looks(class string) bool { return w.only == nil || w.only[class] }

// decide applies a command, in its term or not at all.
func (w *world) decide(p *proposal) {
	if p.term != 0 && p.term != w.term && !w.out.lease.AnyTerm {
		w.tell(p, table.ErrTerm, true)
		return
	}
	if w.lonely(p.command) {
		p.gone = true
		w.tell(p, table.ErrUnknownOutcome, false)
		return
	}
	err := w.apply(p.command)
	if err == nil {
		if !w.quiet {
			w.count[fmt.Sprintf("%T", p.command)]++
		}
		if e := w.state().Check(); e != nil {
			w.fail("the table: %v", e)
		}
	}
	w.say("  decided: %+v: %v", p.command, err)
	w.tell(p, err, true)
}

// lonely reports whether a command would leave a row to members that have just lost power,
// and data with it, before anybody knows: nothing could help then.
func (w *world) lonely(c table.Command) bool {
	if r, ok := c.(*table.Register); ok {
		w.node(r.Node).lost = w.node(r.Node).lost && w.node(r.Node).start != r.Incarnation
		return false
	}
	next, err := w.state().Apply(w.state().Index()+1, c)
	if err != nil {
		return false
	}
	for row := range next.Rows() {
		all := true
		for m := range row.Copies() {
			all = all && w.node(m).lost
		}
		if all {
			return true
		}
	}
	return false
}

// planning is what the leader's planner may order, of which the model knows no reason.
func (w *world) planning() []action {
	var all []action
	st := w.state()
	for row := range st.Rows() {
		if len(row.Backups)+len(row.Learners) >= len(w.nodes)-1 || len(row.Learners) > 0 {
			continue
		}
		for _, n := range w.nodes {
			if m, _ := st.Node(n.id); row.Holds(n.id) || !m.Counts() {
				continue
			} else {
				all = append(all, act("learner", w.name("%s, %v", n.id, row.Range), func() {
					_ = w.apply(&table.AddLearner{Rows: []table.Ref{row.Ref()}, Node: n.id, Incarnation: m.Incarnation})
				}))
			}
		}
	}
	return all
}

// handoffs are those that the planner may order: that a node without a copy of a row becomes
// its primary.
func (w *world) handoffs() []action {
	var all []action
	st := w.state()
	for row := range st.Rows() {
		if len(row.Learners) > 0 {
			continue
		}
		for _, n := range w.nodes {
			m, _ := st.Node(n.id)
			if row.Holds(n.id) || !m.Counts() {
				continue
			}
			all = append(all, act("handoff", w.name("%s, %v", n.id, row.Range), func() {
				h := table.Handoff{From: row.Primary, To: n.id, Pieces: []ring.Piece{{Range: row.Range, Primary: true}}}
				if w.apply(&table.Plan{Basis: st.Basis(), Handoffs: []table.Handoff{h}}) != nil {
					return
				}
				now, _ := w.state().Row(row.Range.Start)
				for _, h := range w.state().Handoffs() {
					_ = w.apply(&table.AddLearner{Rows: []table.Ref{now.Ref()}, Node: n.id, Incarnation: m.Incarnation, Handoff: h.ID})
				}
			}))
		}
	}
	return all
}

// A past is what clients know of one key: the longest list that one has been shown.
type past struct {
	shown []uint64
}

// An op is a client's request.
type op struct {
	read  bool
	token ring.Token
	id    uint64
	at    string
	floor int // how much had been shown to somebody when it began
	list  []uint64
	q     *quorum // whose word the reply waits for
	n     uint64
	spell uint64
}

// answer is a reply that reached its client.
func (w *world) answer(o *op) {
	p := w.past[o.token]
	kind := "write"
	if o.read {
		kind = "read"
	}
	w.say("  %s of %08x at %s is answered: %v", kind, uint32(o.token), o.at, o.list)
	short := o.list
	long := p.shown
	if len(short) > len(long) {
		short, long = long, short
	}
	switch {
	case !slices.Equal(short, long[:len(short)]):
		w.fail("%s of %08x at %s shows %v; others were shown %v", kind, uint32(o.token), o.at, o.list, p.shown)
	case len(o.list) < o.floor:
		w.fail("%s of %08x at %s shows %v, which is older than what was shown before it was asked: %v", kind, uint32(o.token), o.at, o.list, p.shown[:o.floor])
	}
	if len(o.list) > len(p.shown) {
		p.shown = o.list
	}
}

// seeded is a chooser by seed; it also chooses what is frequent.
func (w *world) swarm(rnd *rand.Rand) {
	for _, class := range slices.Sorted(maps.Keys(weights)) {
		v := weights[class]
		switch rnd.IntN(6) {
		case 0:
			w.weight[class] = v * 4
		case 1:
			w.weight[class] = max(1, v/4)
		}
	}
}
