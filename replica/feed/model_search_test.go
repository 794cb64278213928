package feed

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// The search goes through all orders of what may happen from a situation on, up to a depth:
// breadth first, so that a fault is found by one of the shortest ways. A world cannot be
// copied; it is made anew and led along by the choices that were noted. Of worlds with the
// same print only the first is gone on with, which leaves out no world that is reached
// within the depth: the first was reached by the fewest steps, and what may still happen is
// part of the print.

// A situation is where a search begins.
type situation struct {
	nodes int
	sets  []string  // members of the rows' sets, the primary first: "abc"
	rates []float64 // of the clocks; 1 if there is none
	begin func(d *director)
	// may says how often what does not go on by itself may happen, by the beginning of its
	// class and name.
	may   map[string]int
	never []string // what does not happen, by the beginnings of class and name
	times []time.Duration
	depth int
	power bool // crashes may lose data

	// The same in all its worlds:
	states  []*table.State
	history []uint64
	script  []scripted // what begin does
}

// A guide is the chooser of a search: it follows noted choices, then takes the first of
// each, and notes how many there were.
type guide struct {
	path  []uint8
	width []uint8
	at    int
}

// IntN implements chooser.
func (g *guide) IntN(n int) int {
	if g.at == len(g.path) {
		g.path = append(g.path, 0)
	}
	v := g.path[g.at]
	g.width = append(g.width, uint8(n))
	g.at++
	return int(v)
}

// A visited is a world, by how it was reached.
type visited struct {
	from *visited
	path []uint8 // of the last step
}

func (r *visited) choices() []uint8 {
	var steps [][]uint8
	n := 0
	for ; r.from != nil; r = r.from {
		steps = append(steps, r.path)
		n += len(r.path)
	}
	all := make([]uint8, 0, n)
	for _, s := range slices.Backward(steps) {
		all = append(all, s...)
	}
	return all
}

// A searched is what came of a search.
type searched struct {
	worlds, steps, depth int
	wrong                string
	trace                string
	over                 bool // all that can be reached at all was
}

// search goes on until something is wrong, or it comes to the depth, or to so many worlds.
func (s *situation) search(out leftOut, depth, most int) (found searched) {
	seen := map[uint64]struct{}{}
	level := []*visited{{}}
	w, left := s.world(out, new(guide), true)
	seen[mixed(w.print(), printOf(left))] = struct{}{}
	for ; found.depth < depth; found.depth++ {
		var next []*visited
		for _, at := range level {
			before := at.choices()
			for g := (&guide{path: slices.Clone(before)}); g != nil; g = g.next(len(before)) {
				w, left := s.replay(out, g, len(before))
				if w == nil {
					break // nothing can happen
				}
				found.steps++
				w.check()
				one := &visited{at, slices.Clone(g.path[len(before):])}
				if w.wrong != "" {
					found.wrong = w.wrong
					g = &guide{path: one.choices()}
					w, left := s.world(out, g, false)
					for g.at < len(g.path) {
						s.step(w, left)
					}
					found.trace = w.last(len(w.trace))
					found.worlds, found.depth = len(seen), found.depth+1
					return found
				}
				h := mixed(w.print(), printOf(left))
				if _, ok := seen[h]; ok {
					continue
				}
				seen[h] = struct{}{}
				next = append(next, one)
				if len(seen) >= most {
					found.worlds = len(seen)
					return found
				}
			}
		}
		if len(next) == 0 {
			found.over = true
			break
		}
		level = next
	}
	found.worlds = len(seen)
	return found
}

// next is the guide to the next order of things after the same beginning; nil after the last.
func (g *guide) next(begin int) *guide {
	path := slices.Clone(g.path[:g.at])
	for i := len(path) - 1; i >= begin; i-- {
		if path[i]+1 < g.width[i] {
			path[i]++
			return &guide{path: path[:i+1]}
		}
	}
	return nil
}

// replay leads a new world along noted choices, and one step on; nil if there is none.
func (s *situation) replay(out leftOut, g *guide, upTo int) (*world, []allowed) {
	w, left := s.world(out, g, true)
	for g.at < upTo {
		s.step(w, left)
	}
	if !s.step(w, left) {
		return nil, nil
	}
	return w, left
}

// step has one of the things happen that may, and that are left.
func (s *situation) step(w *world, left []allowed) bool {
	all := slices.DeleteFunc(w.actions(), func(a action) bool {
		if slices.Contains(smooth, a.class) {
			return slices.ContainsFunc(s.never, func(n string) bool { return strings.HasPrefix(a.class+": "+a.name, n) })
		}
		return use(left, a, 0) == 0
	})
	if len(all) == 0 {
		return false
	}
	a := all[w.IntN(len(all))]
	use(left, a, 1)
	w.say("%s: %s", a.class, a.name)
	a.do()
	return true
}

// An allowed is what may happen so many times more.
type allowed struct {
	what string
	n    int
}

// use takes so much from what allows an action, and returns how much there was.
func use(left []allowed, a action, n int) int {
	name := a.class + ": " + a.name
	for i := range left {
		if l := &left[i]; l.n > 0 && strings.HasPrefix(name, l.what) {
			l.n -= n
			return l.n + n
		}
	}
	return 0
}

// world makes the situation.
func (s *situation) world(out leftOut, g *guide, quiet bool) (*world, []allowed) {
	if s.states == nil {
		s.found()
	}
	w := &world{
		chooser: g, out: out, starts: map[uint64]int{}, cut: map[[2]string]bool{}, count: map[string]int{},
		past: map[ring.Token]*past{}, now: time.Hour, times: s.times, plain: true, power: s.power, quiet: quiet,
		states: slices.Clip(s.states), history: slices.Clip(s.history),
	}
	for _, t := range modelTokens {
		w.past[t] = new(past)
	}
	for i := range s.nodes {
		n := &mnode{w: w, id: string(rune('a' + i)), data: map[ring.Token][]uint64{}, rate: 1}
		if i < len(s.rates) {
			n.rate = s.rates[i]
		}
		w.nodes = append(w.nodes, n)
	}
	for _, n := range w.nodes {
		n.begin(1)
		n.applied = len(w.states) - 1
		for row := range w.state().Rows() {
			n.off.addLearned([]ring.Range{row.Range}) // so nothing is compared
		}
		n.turn()
	}
	w.nodes[len(w.nodes)-1].lead()
	for _, n := range w.nodes {
		n.settle()
	}
	w.lease()
	s.play(w)
	w.unnamed = quiet && len(s.never) == 0
	var left []allowed
	w.only = make(map[string]bool, len(s.may)+len(smooth))
	for _, what := range slices.Sorted(maps.Keys(s.may)) {
		left = append(left, allowed{what, s.may[what]})
		class, _, named := strings.Cut(what, ": ")
		w.only[class] = true
		w.unnamed = w.unnamed && !named
	}
	for _, class := range smooth {
		w.only[class] = true
	}
	return w, left
}

// play has happen what comes before the search: as it was written, and from then on as it
// was noted. A rule that is left out may have made it another: then it is written anew.
func (s *situation) play(w *world) {
	if s.begin == nil {
		return
	}
	chooser, quiet, d := w.chooser, w.quiet, &director{w: w}
	w.chooser = d
	if s.script == nil {
		w.quiet = false
		s.begin(d)
		if d.missing != "" || w.wrong != "" {
			panic(w.wrong + d.missing + w.last(50))
		}
		s.script = d.script
		w.trace = nil
	} else {
		w.unnamed = quiet
		for _, c := range s.script {
			w.now += c.passed
			if c.passed > 0 {
				continue
			}
			d.next, w.only = c.chosen, alone[c.class]
			at := c.action
			for _, a := range w.actions() {
				if a.class != c.class {
					continue
				}
				if at == 0 {
					a.do()
					break
				}
				at--
			}
		}
	}
	w.chooser, w.quiet = chooser, quiet
}

// alone are the classes, each for itself.
var alone = func() map[string]map[string]bool {
	all := make(map[string]map[string]bool, len(weights))
	for class := range weights {
		all[class] = map[string]bool{class: true}
	}
	return all
}()

// found makes the table of the situation, which is the same in all its worlds.
func (s *situation) found() {
	w := newWorld(new(guide), leftOut{}, s.nodes, 1)
	for i, set := range s.sets {
		at := ring.Token(i) << 31
		row, _ := w.state().Row(at)
		if set[:1] != row.Primary {
			panic("the first node is the primary")
		}
		for _, b := range set[1:] {
			row, _ := w.state().Row(at)
			_ = w.apply(&table.AddLearner{Rows: []table.Ref{row.Ref()}, Node: string(b), Incarnation: 1})
			row, _ = w.state().Row(at)
			_ = w.apply(&table.Admit{Rows: []table.Ref{row.Ref()}, Node: string(b), Incarnation: 1})
		}
	}
	s.states, s.history = w.states, w.history
}

// settle has the members of a node's rows follow it, and all that was sent arrive.
func (n *mnode) settle() {
	for _, l := range n.linesInOrder() {
		if fl := n.lines[l]; fl.conn == nil {
			n.connect(fl, n.w.node(l.node))
		}
	}
	for again := true; again; {
		again = false
		for len(n.tasks) > 0 && n.tasks[0].ready() {
			t := n.tasks[0]
			n.tasks = n.tasks[1:]
			t.run()
			again = true
		}
		for _, l := range n.linesInOrder() {
			again = n.flush(l.node) || again
		}
	}
}

// flush has all arrive that a node sends to a member, and be acknowledged.
func (n *mnode) flush(to string) (any bool) {
	fl := n.lines[n.off.sessions[to]]
	for _, f := range slices.Clone(fl.frames) {
		if c := fl.conn; c != nil && f.seq == c.next {
			c.next++
			c.take(f)
			any = true
		}
	}
	for c := fl.conn; c != nil && len(c.back) > 0; {
		r := c.back[0]
		c.back = c.back[1:]
		c.hear(r)
	}
	return any
}

func (n *mnode) lead() {
	w := n.w
	w.term++
	w.starts[w.term] = len(w.states) - 1
	n.leads = w.term
	n.granter.BeginTerm(w.term, n.clock())
}

// lease has all nodes get a lease at this moment.
func (w *world) lease() {
	leader := w.nodes[slices.IndexFunc(w.nodes, func(n *mnode) bool { return n.leads == w.term })]
	for _, n := range w.nodes {
		if index, err := leader.grant(lease.NodeStart{Node: n.id, Incarnation: n.start}, lease.NodeCondition{Applied: n.state().Index()}); err == nil {
			n.advance(func(h *lease.Holder) { h.AddGrant(n.clock(), n.clock(), index, n.state().Index()) })
		}
	}
}
