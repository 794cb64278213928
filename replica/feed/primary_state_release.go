package feed

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/table"
)

// distrust cuts the lines of members that nobody has let join: somebody admitted them
// who did not count them first.
func (p *primaryState) endRejectedSessions() {
	for _, t := range p.terms {
		for _, m := range t.members {
			if l := p.sessions[m]; l != nil && slices.Contains(t.rejected, m) && t.open {
				p.endSession(l, "it was admitted without being fed")
			}
		}
	}
}

// reject has a member released from a tenure.
func (p *primaryState) reject(node string, t *rowTerm) {
	if !slices.Contains(t.rejected, node) {
		t.rejected = append(slices.Clip(t.rejected), node)
	}
}

// A pendingRelease is rows from which a node is to be released.
type pendingRelease struct {
	node string
	rows []table.Ref
}

// dismissals are those that a state still has in a set although they are not fed.
func (p *primaryState) pendingReleases(st *table.State) (all []pendingRelease) {
	for _, t := range p.terms {
		row, ok := st.Row(t.Range.Start)
		if !ok || row.Range != t.Range || row.Primary != p.self {
			continue
		}
		for _, b := range row.Backups {
			l := p.sessions[b]
			if (l == nil || l.endReason == "") && !slices.Contains(t.rejected, b) {
				continue
			}
			i := slices.IndexFunc(all, func(d pendingRelease) bool { return d.node == b })
			if i < 0 {
				i = len(all)
				all = append(all, pendingRelease{node: b})
			}
			all[i].rows = append(all[i].rows, row.Ref())
		}
	}
	return all
}
