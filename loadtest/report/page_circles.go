package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// circles show which node owns which tokens, frame by frame, of all contestants at once.
type circles struct {
	Frames []circleFrame `json:"frames"`
	Each   []circle      `json:"each"`
}

// A circleFrame is a moment of the story that all contestants share.
type circleFrame struct {
	Name string `json:"name"`
	// Before is the frame that changes are counted from.
	Before int `json:"before"`
}

// A circle is that of one contestant: a state for each frame.
type circle struct {
	Name   string   `json:"name"`
	States []owners `json:"states"`
	Loads  []values `json:"loads,omitempty"` // operations a second by cell, for owners
}

// owners are cells of equal length, from token 0 on. Each is a character of the text: a dot for no
// node, and 256 and its number for a node.
type owners struct {
	Note    string `json:"note,omitempty"`
	Primary string `json:"primary"`
	Backup  string `json:"backup,omitempty"`
	Load    int    `json:"load,omitempty"` // of the circle's, counted from 1; 0: not known
}

const firstNode = 256 // the character of node 0

// ownersText are cells with places in a list of nodes, of which index has the numbers.
func ownersText(cells []int, nodes []string, index map[string]int) string {
	text := make([]rune, len(cells))
	for i, k := range cells {
		text[i] = '.'
		if k < 0 || k >= len(nodes) {
			continue
		}
		if n, ok := index[nodes[k]]; ok {
			text[i] = rune(firstNode + n)
		}
	}
	return string(text)
}

// layoutsAt are the indices of the layouts of a run at the start and after each event.
func layoutsAt(run *result.Run, all []eventKey) []int {
	last := func(index int) int { // the last layout before an event, or of all
		at := 0
		for at+1 < len(run.Layouts) && (index == len(run.Events) || run.Layouts[at+1].AtMS < run.Events[index].AtMS) {
			at++
		}
		return at
	}
	at := 0
	if len(run.Events) > 0 {
		at = last(0)
	}
	ends := []int{at}
	for _, e := range all {
		if e.of(run) != nil {
			at = last(e.index + 1)
		}
		ends = append(ends, at)
	}
	return ends
}

// loadsAt are the loads before the first event and after each; nil where they are not known.
func loadsAt(run *result.Run, all []eventKey) []*result.Loads {
	last := func(index int) *result.Loads { // those that were read last before an event, or in the end
		from, to := 0.0, math.Inf(1)
		if index > 0 {
			from = run.Events[index-1].AtMS
		}
		if index < len(run.Events) {
			to = run.Events[index].AtMS
		}
		for k := len(run.Loads) - 1; k >= 0; k-- {
			if l := &run.Loads[k]; l.AtMS >= from && l.AtMS <= to {
				return l
			}
		}
		return nil
	}
	loads := []*result.Loads{last(0)}
	for _, e := range all {
		var after *result.Loads
		if e.of(run) != nil {
			after = last(e.index + 1)
		}
		loads = append(loads, after)
	}
	return loads
}

// loadCells is how many cells the load has on a circle.
const loadCells = 256

// coarse sums up a load in fewer cells.
func coarse(perSecond []float64) values {
	n := min(loadCells, len(perSecond))
	all := make(values, n)
	for i, x := range perSecond {
		all[i*n/len(perSecond)] += x
	}
	return all
}

// framesPerEvent is in how many frames a move of data is shown.
const framesPerEvent = 4

// ownersSection has the circle of each contestant.
func ownersSection(r *result.Report) section {
	all := pageEvents(r)
	steps := framesPerEvent
	if len(events(r)) > 10 {
		steps = 1
	}
	c := &circles{Frames: []circleFrame{{Name: "start"}}, Each: []circle{}}
	for i, e := range all {
		for k := range steps {
			name := e.label()
			if k < steps-1 {
				name += fmt.Sprintf(", %d of %d", k+1, steps)
			}
			c.Frames = append(c.Frames, circleFrame{Name: Clip(Printable(name), 30), Before: i * steps})
		}
	}
	index := nodeIndex(r)
	for i, run := range shownRuns(r) {
		if len(run.Layouts) > 0 {
			c.Each = append(c.Each, circleOf(shortName(&r.Contestants[i]), run, index, all, steps))
		}
	}
	if len(c.Each) == 0 {
		return section{}
	}
	s := loadTestSection("owners", pagePart{Circles: c})
	if slices.ContainsFunc(c.Each, func(one circle) bool { return len(one.Loads) > 0 }) {
		s.Text += " Bars inside show operations a second, at the last time before the next event."
	}
	if g := placementGrids(r); len(g.Frames) > 0 {
		s.Parts = append(s.Parts, pagePart{Title: "Primaries and backups of each node", Help: gridText, Grids: g})
	}
	return s
}

// circleOf has a state before the first event, and so many until each event's end.
func circleOf(name string, run *result.Run, index map[string]int, all []eventKey, steps int) circle {
	c := circle{Name: name}
	charted := map[*result.Loads]int{}
	show := func(at int, loads *result.Loads) {
		l := &run.Layouts[at]
		state := owners{Primary: ownersText(l.Primary, l.Nodes, index), Backup: ownersText(l.Backup, l.Nodes, index)}
		if len(run.Events) > 0 && l.AtMS >= run.Events[0].AtMS {
			state.Note = "at " + seconds(l.AtMS/1000)
		}
		if loads != nil && charted[loads] == 0 {
			c.Loads = append(c.Loads, coarse(loads.PerSecond))
			charted[loads] = len(c.Loads)
		}
		state.Load = charted[loads]
		c.States = append(c.States, state)
	}
	ends, loads := layoutsAt(run, all), loadsAt(run, all)
	show(ends[0], loads[0])
	for k := range all {
		for step := 1; step <= steps; step++ {
			// The load after the event is that of its last step.
			show(ends[k]+(ends[k+1]-ends[k])*step/steps, loads[k+step/steps])
		}
	}
	return c
}

const gridText = "Each node's cells, in the order of their tokens: a row's label is the first byte of its first token. Of buckets each is a cell; of other strategies 1,024 equal pieces of the circle are. P is a primary, S a first backup. Against the time before the event, a cell that has come to the node has a thick frame, one that became its primary or its backup without moving a thin one with an arrow, and a cross is one that the node gave up."
