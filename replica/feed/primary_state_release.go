package feed

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/table"
)

// endRejectedSessions ends the sessions of members that the table admitted although they had not
// counted first.
func (p *primaryState) endRejectedSessions() {
	for _, t := range p.terms {
		for _, m := range t.members {
			if l := p.sessions[m]; l != nil && slices.Contains(t.rejected, m) && t.open {
				p.endSession(l, "it was admitted without being fed")
			}
		}
	}
}

// reject requires that a node is released from a row.
func (p *primaryState) reject(node string, t *rowTerm) {
	if !slices.Contains(t.rejected, node) {
		t.rejected = append(slices.Clip(t.rejected), node)
	}
}

// A pendingRelease names rows from which a node must be released.
type pendingRelease struct {
	node string
	rows []table.Ref
}

// pendingReleases returns the members that st still has in a set although they are rejected or
// their session has ended.
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
