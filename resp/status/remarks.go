package status

import (
	"fmt"
	"time"
)

// A Remark is a sentence about the cluster.
type Remark struct {
	Text  string `json:"text"`
	Alarm bool   `json:"alarm"` // something is not as it should be
}

// Remarks say what an operator should know, node by node.
func (r *Report) Remarks() []Remark {
	var all []Remark
	add := func(format string, args ...any) { all = append(all, Remark{fmt.Sprintf(format, args...), true}) }
	notes := func(notes []string) {
		for _, note := range notes {
			add("%s", note)
		}
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		switch {
		case n.Health == Failed && n.Since != nil:
			add("%s does not answer since %s, %s ago%s", n.ID, n.Since.Format(time.TimeOnly), span(r.At.Sub(*n.Since)), n.burden())
		case n.Health == Failed:
			add("%s does not answer since before %s was started%s", n.ID, r.Asked, n.burden())
		case n.Health == Unseen:
			add("%s has not been seen since %s was started%s", n.ID, r.Asked, n.burden())
		case n.Health == Left && n.Primaries > 0:
			add("%s has left%s", n.ID, n.burden())
		case n.State == Stray:
			all = append(all, Remark{Text: n.ID + " is there and has not registered yet"})
		case n.Fault != "":
			add("%s: %s", n.ID, n.Fault)
		}
		if n.WritesRefused != "" {
			add("%s takes no writes: %s", n.ID, n.WritesRefused)
		}
		if n.Lease != nil {
			notes(n.Lease.notes(n.ID))
		}
		if n.Feeding.PendingFor > pendingLong {
			add("%s waits for backups to acknowledge %s, for %.0f s by now", n.ID, plural(n.Feeding.Pending, "change"), n.Feeding.PendingFor)
		}
		if n.Scrub != nil {
			notes(n.Scrub.notes(n.ID))
		}
	}
	return all
}

// pendingLong is how long backups may take, in seconds, before that is worth a line.
const pendingLong = 1
