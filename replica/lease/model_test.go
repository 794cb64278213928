package lease

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A model of leases: the real holders and granters, clocks that are set differently and
// run differently fast, messages that take long or get lost, leaders that come and go
// without hearing of each other, and a table that says who serves the only range.
type leaseModel struct {
	rnd    *rand.Rand
	skip   Rules
	now    time.Duration // in truth
	nodes  []*leaseNode
	events []leaseEvent

	leader int          // in truth
	term   uint64       // in truth
	log    []leaseEntry // what is decided; the index is one more than the place
	// answered is the greatest index of an entry by which somebody has answered.
	answered uint64
}

type leaseEvent struct {
	at time.Duration
	do func()
}

// A leaseEntry makes a node the one that serves.
type leaseEntry struct {
	primary int
	term    uint64
}

type leaseNode struct {
	id      int
	rate    float64 // of its clock
	ahead   time.Duration
	holder  Holder
	granter Granter
	believe uint64 // the term in which it thinks that it leads; 0 if it does not
	applied uint64
	stopped bool // it does nothing for a while, like one that got SIGSTOP
}

func (m *leaseModel) clock(n *leaseNode) time.Duration {
	return n.ahead + time.Duration(float64(m.now)*n.rate)
}

func (m *leaseModel) after(most time.Duration, do func()) {
	m.events = append(m.events, leaseEvent{m.now + time.Duration(m.rnd.Int64N(int64(most)+1)), do})
}

// lag is what a message takes: little, mostly.
func (m *leaseModel) lag() time.Duration {
	if m.rnd.IntN(6) == 0 {
		return 5 * time.Second
	}
	return 20 * time.Millisecond
}

func newLeaseModel(seed uint64, skip Rules) *leaseModel {
	m := &leaseModel{rnd: rand.New(rand.NewPCG(seed, 5)), skip: skip, log: []leaseEntry{{0, 1}}, term: 1}
	for i := range 3 {
		n := &leaseNode{id: i, rate: 0.95 + 0.1*m.rnd.Float64(), ahead: time.Duration(m.rnd.Int64N(int64(time.Hour))), applied: 1}
		n.holder.Disabled, n.granter.Disabled = skip, skip
		m.nodes = append(m.nodes, n)
		m.after(RenewEvery, func() { m.request(n) })
		m.after(SuperviseInterval, func() { m.supervise(n) })
	}
	m.elect(1)
	return m
}

// elect makes a node the leader. What the one before had under way is decided before
// that, or never: Raft keeps no more than that of it.
func (m *leaseModel) elect(id int) {
	m.leader = id
	m.term++
	n, term := m.nodes[id], m.term
	n.believe = term
	settled := uint64(len(m.log))
	var settle func()
	settle = func() {
		switch {
		case n.believe != term:
		case n.applied >= settled || m.skip.Unsettled:
			n.granter.BeginTerm(term, m.clock(n))
		default:
			m.after(10*time.Millisecond, settle)
		}
	}
	settle()
}

// request is a node's way to a lease.
func (m *leaseModel) request(n *leaseNode) {
	m.after(RenewEvery, func() { m.request(n) })
	if n.stopped {
		return
	}
	sent, is := m.clock(n), NodeCondition{Applied: n.applied}
	// It asks whomever it takes for the leader: now and then the one before.
	for _, l := range m.nodes {
		if l.believe != 0 && (l.id == m.leader || m.rnd.IntN(2) == 0) {
			m.after(m.lag(), func() { m.answer(l, n, sent, is) })
		}
	}
}

func (m *leaseModel) answer(l, n *leaseNode, sent time.Duration, is NodeCondition) {
	if l.stopped {
		m.after(time.Second, func() { m.answer(l, n, sent, is) })
		return
	}
	confirmed := l.believe
	if !m.skip.Unconfirmed && l.believe != m.term {
		confirmed = 0
	}
	m.after(5*time.Millisecond, func() {
		if l.stopped || l.granter.Grant(NodeStart{fmt.Sprint(n.id), 1}, confirmed, m.clock(l), is, l.applied) != nil {
			return
		}
		index := l.applied
		var arrive func()
		arrive = func() {
			if n.stopped {
				m.after(time.Second, arrive)
				return
			}
			n.holder.AddGrant(sent, m.clock(n), index, n.applied)
		}
		m.after(m.lag(), arrive)
	})
}

// supervise is a leader's look at who is away.
func (m *leaseModel) supervise(n *leaseNode) {
	m.after(SuperviseInterval, func() { m.supervise(n) })
	if n.believe == 0 || n.stopped {
		return
	}
	term, g := n.believe, &n.granter
	g.NoteAwake(m.clock(n))
	primary := m.log[n.applied-1].primary
	name := fmt.Sprint(primary)
	if !g.LeaseOver(NodeStart{name, 1}, m.clock(n)) || !g.BeginReplacement(name) {
		return
	}
	next := (primary + 1 + m.rnd.IntN(2)) % 3
	known := n.applied
	m.after(300*time.Millisecond, func() {
		// It is decided only by who leads in truth, and only if it is still to the point.
		in := term
		if m.skip.AnyTerm {
			in = m.term
		}
		if in == m.term && uint64(len(m.log)) == known {
			m.log = append(m.log, leaseEntry{next, m.term})
		}
		decided := uint64(len(m.log))
		var learn func()
		learn = func() {
			if n.applied < decided {
				m.after(20*time.Millisecond, learn)
				return
			}
			g.EndReplacement(name, term)
		}
		learn()
	})
}

// happen lets time go by, and something happen.
func (m *leaseModel) happen() {
	slices.SortStableFunc(m.events, func(a, b leaseEvent) int { return int(a.at - b.at) })
	next := m.events[0]
	m.events = m.events[1:]
	m.now = max(m.now, next.at)
	next.do()
	n := m.nodes[m.rnd.IntN(3)]
	switch m.rnd.IntN(60) {
	case 0:
		if !n.stopped {
			n.stopped = true
			m.after(10*time.Second, func() { n.stopped = false })
		}
	case 1:
		// Who led before may go on believing it for a while.
		if old := m.nodes[m.leader]; n.id != m.leader && !n.stopped {
			m.elect(n.id)
			term := old.believe
			m.after(6*time.Second, func() {
				if old.believe == term {
					old.believe = 0
					old.granter.EndTerm()
				}
			})
		}
	default:
		if last := uint64(len(m.log)); n.applied < last && !n.stopped && m.rnd.IntN(3) == 0 {
			n.applied++
			n.holder.ApplyIndex(n.applied)
		}
	}
}

// wrong reports whether a node answers without a right to.
func (m *leaseModel) wrong() string {
	for _, n := range m.nodes {
		if m.log[n.applied-1].primary != n.id || m.clock(n) >= n.holder.Until {
			continue
		}
		if n.applied < m.answered {
			return fmt.Sprintf("at %v node %d answers by entry %d, others have by entry %d", m.now, n.id, n.applied, m.answered)
		}
		m.answered = n.applied
	}
	return ""
}

// explore looks for a wrong answer in so many runs.
func explore(skip Rules, first uint64, runs int) (wrong string, answers uint64) {
	for seed := range uint64(runs) {
		m := newLeaseModel(first+seed, skip)
		for range 3000 {
			m.happen()
			if text := m.wrong(); text != "" {
				return fmt.Sprintf("seed %d: %s", first+seed, text), answers
			}
		}
		answers += m.answered
	}
	return "", answers
}

func TestNoNodeAnswersForRowsOfAnother(t *testing.T) {
	first := rand.Uint64() >> 1
	t.Logf("from seed %d", first)
	wrong, answers := explore(Rules{}, first, 200)
	if wrong != "" {
		t.Error(wrong)
	}
	if answers < 200 {
		t.Errorf("only %d changes of who serves were seen: this proves little", answers)
	}
}

// What each of the rules is for: without it somebody answers who must not.
func TestEachRuleOfLeasesIsNeeded(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for name, skip := range map[string]Rules{
		"counted from the sending of the request": {FromReceipt: true},
		"less a margin": {NoMargin: true},
		"counts once the holder has applied that far": {AnyIndex: true},
		"a quorum has confirmed the leader":           {Unconfirmed: true},
		"the leader has applied its own term":         {Unsettled: true},
		"no grant while a failover is under way":      {WhileReplaced: true},
		"nobody is promoted before the lease is over": {AtOnce: true},
		"a new leader waits":                          {NewLeader: true},
		"a failover is of one term":                   {AnyTerm: true},
	} {
		t.Run(name, func(t *testing.T) {
			if wrong, _ := explore(skip, 1, 2000); wrong == "" {
				t.Error("nothing went wrong without it")
			} else {
				t.Log(wrong)
			}
		})
	}
}
