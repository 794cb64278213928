package report

import (
	"fmt"

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
}

// owners are cells of equal length, from token 0 on. Each is a character of the text: a dot for no
// node, and 256 and its number for a node.
type owners struct {
	Note    string `json:"note,omitempty"`
	Primary string `json:"primary"`
	Backup  string `json:"backup,omitempty"`
}

const firstNode = 256 // the character of node 0

func ownersText(cells []int, node func(int) (int, bool)) string {
	text := make([]rune, len(cells))
	for i, c := range cells {
		text[i] = '.'
		if n, ok := node(c); ok {
			text[i] = rune(firstNode + n)
		}
	}
	return string(text)
}

const circleText = "The circle of all tokens, from 0 at the top and clockwise: the outer ring shows the primary of each piece, the inner one its first backup. The thin ring outside shows the primaries before the event, and dark arcs mark what changed hands. A gap is served by no node that is known."

// framesPerEvent is in how many frames a move of data is shown.
const framesPerEvent = 4

// ownersSection has the circle of each contestant.
func ownersSection(r *result.Report) section {
	index := nodeIndex(r)
	all := events(r)
	steps := framesPerEvent
	if len(all) > 10 {
		steps = 1
	}
	all = all[:min(len(all), mostPageEvents)]
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
	for i := range r.Contestants {
		run := shown(&r.Contestants[i])
		if run == nil || len(run.Layouts) == 0 {
			continue
		}
		one := circle{Name: shortName(&r.Contestants[i])}
		note := func(l *result.Layout) string {
			if len(run.Events) == 0 || l.AtMS < run.Events[0].AtMS {
				return ""
			}
			return "at " + seconds(l.AtMS/1000)
		}
		show := func(at int) {
			l := &run.Layouts[at]
			node := func(k int) (int, bool) {
				if k < 0 || k >= len(l.Nodes) {
					return 0, false
				}
				n, ok := index[l.Nodes[k]]
				return n, ok
			}
			one.States = append(one.States, owners{Note: note(l), Primary: ownersText(l.Primary, node), Backup: ownersText(l.Backup, node)})
		}
		at := 0
		until := func(ms float64) int { // the last layout before a moment
			last := at
			for last+1 < len(run.Layouts) && run.Layouts[last+1].AtMS < ms {
				last++
			}
			return last
		}
		if len(run.Events) > 0 {
			at = until(run.Events[0].AtMS)
		}
		show(at)
		for _, e := range all {
			last := at
			switch next := e.index + 1; {
			case e.of(run) == nil:
			case next < len(run.Events):
				last = until(run.Events[next].AtMS)
			default:
				last = len(run.Layouts) - 1
			}
			for k := range steps {
				show(at + (last-at)*(k+1)/steps)
			}
			at = last
		}
		c.Each = append(c.Each, one)
	}
	if len(c.Each) == 0 {
		return section{}
	}
	return section{ID: "owners", Title: "Owners", Text: circleText, Parts: []pagePart{{Circles: c}}}
}
