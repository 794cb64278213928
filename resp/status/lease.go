package status

import (
	"fmt"
	"time"
)

// A Lease is how it stands with a node's permission to answer.
type Lease struct {
	// Valid reports that the node answers; Alone that it needs no lease, since nothing is
	// decided without it.
	Valid bool `json:"valid"`
	Alone bool `json:"alone"`
	// Left is for how many seconds the lease goes on unless it is renewed; below 0, for
	// how long it has been over.
	Left float64 `json:"left_seconds"`
	// Fault says why the last request for a lease was in vain; empty if it was not.
	Fault string `json:"fault,omitempty"`
	// Granted and Refused count the node's requests, Lapses how often its lease ended.
	Granted int64 `json:"granted"`
	Refused int64 `json:"refused"`
	Lapses  int64 `json:"lapses"`
	// Given and Withheld count what the node has answered others while it led, Failovers
	// the nodes that it has replaced then, and Promoted the ranges that others serve
	// since.
	Given     int64 `json:"given"`
	Withheld  int64 `json:"withheld"`
	Failovers int64 `json:"failovers"`
	Promoted  int64 `json:"promoted"`
	// ClockOffset is by how many seconds the clock of the node ClockOf, the leader, is
	// ahead of this node's; ClockOf is empty if that is not known.
	ClockOf     string  `json:"clock_of,omitempty"`
	ClockOffset float64 `json:"clock_offset_seconds"`
	// ClockSkewed reports that the clocks differ by more than half a second for certain:
	// keys expire by the clock of the node that serves them.
	ClockSkewed bool `json:"clock_skewed"`
}

// notes are what an operator should know of a node's lease.
func (l *Lease) notes(node string) []string {
	var notes []string
	if !l.Valid {
		text := fmt.Sprintf("%s answers nothing: it has no lease", node)
		if l.Fault != "" {
			text += ": " + l.Fault
		}
		notes = append(notes, text)
	}
	if l.ClockSkewed {
		off := time.Duration(l.ClockOffset * float64(time.Second)).Round(10 * time.Millisecond)
		direction := "behind"
		if off < 0 {
			off, direction = -off, "ahead of"
		}
		notes = append(notes, fmt.Sprintf("the clock of %s is %v %s that of %s: keys expire by it", node, off, direction, l.ClockOf))
	}
	return notes
}
