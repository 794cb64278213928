package node

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A founderModel is nodes that found with others, with a gossip that is split at will,
// messages that get lost, and restarts at any time. It follows bootstrap.go step by
// step, and asks the product's own rule for promises.
type founderModel struct {
	rnd     *rand.Rand
	expect  int
	nodes   []modelNode
	side    []int // of each node: those of one side see each other
	founded map[uint64]bool
	next    uint64
}

type modelNode struct {
	membership
	founding uint64       // the generation that it is about to found, whatever it chooses now
	promised map[int]bool // in this attempt
}

func (m *founderModel) id(i int) string { return fmt.Sprintf("n%02d", i) }

func (m *founderModel) sees(i int) []int {
	var all []int
	for j := range m.nodes {
		if m.side[i] == m.side[j] {
			all = append(all, j)
		}
	}
	return all
}

// met are the generations that a node can see others to be in.
func (m *founderModel) met(i int) []uint64 {
	var all []uint64
	for _, j := range m.sees(i) {
		if n := m.nodes[j]; j != i && n.Entered && !slices.Contains(all, n.Generation) {
			all = append(all, n.Generation)
		}
	}
	return all
}

func (m *founderModel) step() {
	i := m.rnd.IntN(len(m.nodes))
	n := &m.nodes[i]
	switch m.rnd.IntN(12) {
	case 0:
		for j := range m.side {
			m.side[j] = m.rnd.IntN(3)
		}
		return
	case 1:
		n.founding, n.promised = 0, nil // a restart; choices last
		return
	}
	if n.founding != 0 {
		n.Generation, n.Founder, n.Entered = n.founding, m.id(i), true
		m.founded[n.founding], n.founding = true, 0
		return
	}
	met := m.met(i)
	switch {
	case n.Entered:
	case n.Generation == 0 && len(met) == 1:
		n.Generation, n.Founder, n.Entered = met[0], "", true
	case n.Generation == 0 && len(met) == 0:
		there := slices.DeleteFunc(m.sees(i), func(j int) bool { return m.nodes[j].Entered })
		if len(there) >= m.expect && there[0] == i {
			m.next++
			n.Generation, n.Founder, n.promised = m.next, m.id(i), nil
		}
	case n.Founder == m.id(i):
		m.gather(i, met)
	case n.Founder != "":
		m.follow(i)
	}
}

// gather asks one node at a time, so that anything may happen in between.
func (m *founderModel) gather(i int, met []uint64) {
	n := &m.nodes[i]
	if n.promised == nil {
		n.promised = map[int]bool{}
	}
	switch {
	case len(met) > 0:
		n.Generation, n.Founder, n.promised = 0, "", nil
	case len(n.promised)+1 >= m.expect:
		n.founding = n.Generation
	default:
		there := m.sees(i)
		j := there[m.rnd.IntN(len(there))]
		if j == i {
			return
		}
		o := &m.nodes[j]
		b, refusal := o.promise(candidateState{
			id: m.id(j), role: RoleStore, expect: m.expect, begun: o.Entered, founding: o.founding != 0, met: len(m.met(j)) > 0,
		}, m.id(i), &question{Generation: n.Generation, Expect: m.expect})
		if refusal != "" {
			return
		}
		if b != o.membership {
			o.promised = nil
		}
		o.membership = b
		if m.rnd.IntN(4) > 0 { // else the answer gets lost
			n.promised[j] = true
		}
	}
}

func (m *founderModel) follow(i int) {
	n := &m.nodes[i]
	if slices.Contains(m.met(i), n.Generation) {
		n.Entered = true
		return
	}
	for _, j := range m.sees(i) {
		if f := &m.nodes[j]; m.id(j) == n.Founder && f.Generation != 0 && f.Generation != n.Generation {
			n.Generation, n.Founder = 0, ""
			return
		}
	}
}

// However gossip is split, fewer than 2n nodes found one cluster at most, and once they
// all see each other they are in it.
func TestSplitGossipFoundsOnce(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for round := range 600 {
		expect := 2 + rnd.IntN(4)
		m := &founderModel{rnd: rnd, expect: expect, founded: map[uint64]bool{}}
		m.nodes = make([]modelNode, expect+rnd.IntN(expect))
		m.side = make([]int, len(m.nodes))
		for range 200 {
			m.step()
		}
		for range 3000 {
			clear(m.side)
			m.step()
			clear(m.side)
		}
		if len(m.founded) != 1 {
			t.Fatalf("round %d: %d of %d nodes found %d clusters: %+v", round, expect, len(m.nodes), len(m.founded), m.nodes)
		}
		for i, n := range m.nodes {
			if !n.Entered || !m.founded[n.Generation] {
				t.Fatalf("round %d: n%02d of %d is outside: %+v", round, i, len(m.nodes), n)
			}
		}
	}
}

func TestPromises(t *testing.T) {
	empty := membership{Cluster: "c"}
	to := func(g uint64, founder string) membership {
		return membership{Cluster: "c", Generation: g, Founder: founder}
	}
	entered := to(7, "a")
	entered.Entered = true
	for _, tt := range []struct {
		name    string
		b       membership
		change  func(*candidateState)
		g       uint64
		expect  int
		refusal string
	}{
		{"free", empty, nil, 5, 3, ""},
		{"said before", to(5, "a"), nil, 5, 3, ""},
		{"its founder asks anew", to(4, "a"), nil, 5, 3, ""},
		{"it gives way to a lower id", to(4, "m"), nil, 5, 3, ""},
		{"it is about to found", to(4, "m"), func(s *candidateState) { s.founding = true }, 5, 3, "founded by m"},
		{"it has the lower id", to(4, "A"), func(s *candidateState) { s.id = "A" }, 5, 3, "founded by A"},
		{"promised", to(4, "b"), nil, 5, 3, "founded by b"},
		{"chosen", to(4, ""), nil, 5, 3, "founded by others"},
		{"in a cluster", entered, nil, 5, 3, "in a cluster, of generation 7"},
		{"with a log", to(4, "a"), func(s *candidateState) { s.begun = true }, 5, 3, "in a cluster"},
		{"another number", empty, nil, 5, 4, "bootstrap-expect 3"},
		{"a proxy", empty, func(s *candidateState) { s.role = RoleProxy }, 5, 3, "a proxy"},
		{"a cluster in sight", empty, func(s *candidateState) { s.met = true }, 5, 3, "there already"},
		{"no generation", empty, nil, 0, 3, "generation 0"},
	} {
		s := candidateState{id: "m", role: RoleStore, expect: 3}
		if tt.change != nil {
			tt.change(&s)
		}
		b, refusal := tt.b.promise(s, "a", &question{Generation: tt.g, Expect: tt.expect})
		want := to(tt.g, "a")
		if tt.refusal != "" {
			want = tt.b
		}
		if b != want || !strings.Contains(refusal, tt.refusal) || (refusal == "") != (tt.refusal == "") {
			t.Errorf("%s: %+v, %q", tt.name, b, refusal)
		}
	}
}
