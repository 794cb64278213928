package replica

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/table"
)

// distrust cuts the lines of members that nobody has let join: somebody admitted them
// who did not count them first.
func (o *office) distrust() {
	for _, t := range o.tenures {
		for _, m := range t.members {
			if l := o.lines[m]; l != nil && slices.Contains(t.rejected, m) && t.open {
				o.cut(l, "it was admitted without being fed")
			}
		}
	}
}

// reject has a member released from a tenure.
func (o *office) reject(node string, t *tenure) {
	if !slices.Contains(t.rejected, node) {
		t.rejected = append(slices.Clip(t.rejected), node)
	}
}

// A dismissal is rows from which a node is to be released.
type dismissal struct {
	node string
	rows []table.Ref
}

// dismissals are those that a state still has in a set although they are not fed.
func (o *office) dismissals(st *table.State) (all []dismissal) {
	for _, t := range o.tenures {
		row, ok := st.Row(t.Range.Start)
		if !ok || row.Range != t.Range || row.Primary != o.self {
			continue
		}
		for _, b := range row.Backups {
			l := o.lines[b]
			if (l == nil || l.broken == "") && !slices.Contains(t.rejected, b) {
				continue
			}
			i := slices.IndexFunc(all, func(d dismissal) bool { return d.node == b })
			if i < 0 {
				i = len(all)
				all = append(all, dismissal{node: b})
			}
			all[i].rows = append(all[i].rows, row.Ref())
		}
	}
	return all
}
