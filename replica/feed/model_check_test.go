package feed

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// check looks at a moment for what must hold at any: whoever may take over has what clients
// were shown, one node at most may answer for a key, and a member has what its primary has,
// but for what is on its way. So a fault shows long before a client could notice it.
func (w *world) check() {
	if w.wrong != "" {
		return
	}
	st := w.state()
	for _, t := range modelTokens {
		row, ok := st.Row(t)
		if !ok {
			continue
		}
		shown := w.past[t].shown
		for m := range row.Copies() {
			if n := w.node(m); w.sound(n, row) && !begins(n.data[t], shown) {
				w.fail("%s is a member of %v and has %v of %08x; shown was %v", m, row.Range, n.data[t], uint32(t), shown)
			}
		}
		var answers string
		for _, n := range w.nodes {
			if !n.up || !n.current() {
				continue
			}
			if _, serves := n.serves(t); !serves {
				continue
			}
			if answers != "" {
				w.fail("%s and %s both answer for %08x", answers, n.id, uint32(t))
			}
			answers = n.id
			if !begins(n.data[t], shown) {
				w.fail("%s answers for %08x with %v; shown was %v", n.id, uint32(t), n.data[t], shown)
			}
		}
	}
	for _, n := range w.nodes {
		if n.up {
			w.fed(n, st)
		}
	}
}

// sound reports whether a node has what it had, as far as the table knows.
func (w *world) sound(n *mnode, row *table.Row) bool {
	m, _ := w.state().Node(n.id)
	// A primary that was started again, and may have lost something, goes on with nothing.
	return !n.lost && !n.doubt && (row.Primary != n.id || row.Incarnation == m.Incarnation || m.Intact)
}

func begins(list, with []uint64) bool {
	return len(list) >= len(with) && slices.Equal(list[:len(with)], with)
}

// fed looks at the members of rows that a node is the primary of, and has opened.
func (w *world) fed(n *mnode, st *table.State) {
	for _, t := range n.off.terms {
		row, ok := st.Row(t.Range.Start)
		if !ok || !t.open || row.Range != t.Range || row.Epoch != t.Epoch || !n.off.isOwn(row) {
			continue
		}
		for _, b := range row.Backups {
			if !slices.Contains(t.members, b) {
				w.fail("%s does not feed %s, which is a member of %v", n.id, b, t.Range)
				continue
			}
			l, m := n.off.sessions[b], w.node(b)
			if l == nil || l.endReason != "" || !m.up || m.start != l.incarnation || slices.Contains(t.notJoined, b) {
				continue
			}
			for _, token := range modelTokens {
				if !t.Range.Contains(token) {
					continue
				}
				if got := m.after(n, l, token); !slices.Equal(got, n.data[token]) {
					w.fail("%s will have %v of %08x, and its primary %s has %v", b, got, uint32(token), n.id, n.data[token])
				}
			}
		}
	}
}

// after is what the node has of a key once it has taken in what it is sent on a line.
func (n *mnode) after(from *mnode, l *session, t ring.Token) []uint64 {
	k := uint64(0)
	if s := n.stands[lease.NodeStart{Node: from.id, Incarnation: from.start}]; s != nil && s.session == l.id {
		k = s.lastFrame
	}
	list := n.data[t]
	for _, f := range from.lines[l].frames {
		if f.seq > k && f.kind == kindBatch && tokenOfBatch(f.body) == t {
			list = taken(list, f.body)
		}
	}
	return list
}
