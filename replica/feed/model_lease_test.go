package feed

import (
	"time"

	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/table"
)

// leasing is what may happen about leases: this node asks for one, or as a leader replaces
// whose lease is over.
func (n *mnode) leasing() []action {
	var all []action
	if n.w.looks("ask lease") {
		all = append(all, act("ask lease", n.id, n.askLease))
	}
	if !n.w.looks("supersede") || n.leads == 0 || n.granter.Term != n.leads {
		return all
	}
	now := n.clock()
	seen := map[lease.NodeStart]bool{}
	for row := range n.state().Rows() {
		t := lease.NodeStart{Node: row.Primary, Incarnation: row.Incarnation}
		if len(row.Backups) == 0 || seen[t] || n.granter.Replacing[t.Node] || !n.granter.LeaseOver(t, now) {
			continue
		}
		seen[t] = true
		all = append(all, act("supersede", n.w.name("%s replaces %s (%d)", n.id, t.Node, t.Incarnation), func() {
			if n.granter.BeginReplacement(t.Node) {
				f := &mfailover{n: n, failed: t, term: n.granter.Term}
				f.ask()
			}
		}))
	}
	return all
}

func (n *mnode) askLease() {
	sent, inc, id, is := n.clock(), n.start, n.id, lease.NodeCondition{Applied: n.state().Index()}
	for _, l := range n.w.nodes {
		if l.leads == 0 || l != n && !n.w.plain && n.w.IntN(2) == 0 {
			continue
		}
		grant := func(leader *mnode) {
			index, err := leader.grant(lease.NodeStart{Node: id, Incarnation: inc}, is)
			n.w.say("  %s grants %s: %v", leader.id, id, err)
			if err != nil {
				return
			}
			n.w.send(leader.id, id, "lease", func(to *mnode) {
				if to.start == inc {
					to.advance(func(h *lease.Holder) { h.AddGrant(sent, to.clock(), index, to.state().Index()) })
				}
			}, inc, sent, index)
		}
		n.w.send(n.id, l.id, "lease request of "+id, grant, inc, sent, is)
	}
}

// advance is what Lease.advance does.
func (n *mnode) advance(change func(*lease.Holder)) {
	change(&n.holder)
	if n.holder.Until == n.until {
		return
	}
	if n.clock() >= n.until {
		n.turn()
		n.spell++
	}
	n.until = n.holder.Until
}

// grant is what Engine.grant does.
func (n *mnode) grant(t lease.NodeStart, is lease.NodeCondition) (uint64, error) {
	w := n.w
	if n.leads == 0 {
		return 0, lease.ErrNotLeader
	}
	if n.leads != w.term && !w.out.lease.Unconfirmed {
		n.leads = 0
		n.granter.EndTerm()
		return 0, lease.ErrNotLeader
	}
	if n.granter.Term != n.leads {
		if n.applied < w.starts[n.leads] && !w.out.lease.Unsettled {
			return 0, lease.ErrNotLeader
		}
		n.granter.BeginTerm(n.leads, n.clock())
	}
	m, known := n.state().Node(t.Node)
	if !known || m.State == table.Gone || m.Incarnation != t.Incarnation {
		return 0, lease.ErrStart
	}
	index := n.state().Index()
	return index, n.granter.Grant(t, n.leads, n.clock(), is, index)
}

// An mfailover is what Engine.succeed does.
type mfailover struct {
	n      *mnode
	failed lease.NodeStart
	term   uint64
	v      *lease.Failover // as of which the members were asked last
	tries  int
}

func (f *mfailover) over() {
	f.n.granter.EndReplacement(f.failed.Node, f.term)
}

// ask asks all members; then it goes on with the answers that have come, at any time.
func (f *mfailover) ask() {
	n := f.n
	v := lease.NewFailover(n.state(), f.failed)
	if v == nil || f.tries >= lease.MaxFailoverTries {
		f.over()
		return
	}
	f.tries++
	before := f.v
	f.v = v
	start := n.start
	for _, node := range v.MembersToAsk() {
		if n.w.out.model.askOnce && before != nil {
			if a, ok := before.Answers[node]; ok && lease.IsRegistered(v.St, node, a.Incarnation) {
				v.Answers[node] = a
				continue
			}
		}
		failed := f.failed
		if node == n.id {
			v.Answers[node] = n.fenceReply(failed)
			continue
		}
		n.w.send(n.id, node, "fence of "+failed.Node, func(to *mnode) {
			reply := to.fenceReply(failed)
			n.w.send(to.id, n.id, "answer to fence", func(back *mnode) {
				if back.start == start {
					v.Answers[to.id] = reply // for this entry, or for none
				}
			}, start, v, reply)
		}, start, v)
	}
	began := n.w.now
	n.tasks = append(n.tasks, &mtask{"goes on with the failover of " + f.failed.Node, func() bool {
		all := true
		for _, node := range v.MembersToAsk() {
			_, ok := v.Answers[node]
			all = all && ok
		}
		return all || n.w.now-began > time.Second
	}, f.decide, []any{f, began}})
}

func (n *mnode) fenceReply(t lease.NodeStart) lease.FenceReply {
	reply := lease.FenceReply{Incarnation: n.start}
	if t.Node == n.id {
		return reply
	}
	p := n.stand(t).fence()
	reply.Last, reply.Known = p.Last, p.Known
	return reply
}

func (f *mfailover) decide() {
	n := f.n
	entry := f.v.Command()
	if entry == nil {
		f.over()
		return
	}
	var p *proposal
	p = n.propose(entry, f.term, func(err error, known bool) {
		switch {
		case known && err == nil:
			n.tasks = append(n.tasks, &mtask{"has applied the failover", func() bool { return n.applied == len(n.w.states)-1 || n.leads != f.term }, f.over, []any{f}})
		case known && table.IsRefused(err):
			n.tasks = append(n.tasks, &mtask{"tries the failover again", func() bool { return true }, f.ask, []any{f}})
		case known:
			f.over()
		default:
			// Until the outcome is known nothing is granted.
			n.tasks = append(n.tasks, &mtask{"learns of the outcome", func() bool {
				return p.gone && n.applied == len(n.w.states)-1 || n.leads != f.term
			}, f.over, []any{f, p}})
		}
	}, f)
}
