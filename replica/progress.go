package replica

import (
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

// Progress says how far a handoff is, as its source knows it.
type Progress struct {
	Handoff  uint64 // id in the table
	From, To string
	// Ranges is the number of ranges that still have to change hands.
	Ranges int
	// Phase is that of the ranges furthest behind, in the words of [table.Phase].
	Phase string
	// Copied so far, and present when the copy began. Totals are 0 while unknown.
	KeysDone, KeysTotal   int64
	BytesDone, BytesTotal int64
	// Rate is the speed in bytes a second; 0 if nothing is being copied.
	Rate float64
	// Started is when this node began the handoff; zero if it has not.
	Started time.Time
	// Waits says in words what the handoff waits for; empty if it does not wait.
	Waits string
	// Cause is the kind of that wait.
	Cause Cause
}

// Progress returns the handoffs of which this node is the source, in the order in which it carries
// them out.
func (e *Engine) Progress() []Progress {
	st := e.cfg.Table.State()
	var all []Progress
	for _, h := range st.Handoffs() {
		if h.From != e.cfg.Self {
			continue
		}
		phase, begun := h.Phase, false
		ranges := 0
		for row := range st.Rows() {
			if row.Op.Handoff == h.ID {
				if !begun || row.Op.Phase < phase {
					phase = row.Op.Phase
				}
				begun = true
			}
			if taskOf(h, row) != noTask {
				ranges++
			}
		}
		p := Progress{Handoff: h.ID, From: h.From, To: h.To, Ranges: ranges, Phase: phase.String()}
		e.mu.Lock()
		t := e.transfers[h.ID]
		e.mu.Unlock()
		if t != nil {
			p.KeysDone, p.KeysTotal = t.keys.done.Load(), t.keys.total.Load()
			p.BytesDone, p.BytesTotal = t.bytes.done.Load(), t.bytes.total.Load()
			p.Rate, p.Started = t.recent.get(), t.started
			p.Cause, p.Waits = t.wait.get()
		}
		if p.Cause == NotWaiting && st.Cluster().Paused && phase < table.InSync {
			p.Cause, p.Waits = Paused, "paused"
		}
		all = append(all, p)
	}
	return all
}
