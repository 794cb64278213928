package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/ring"
)

// A scene is the members after one step of the script, and how they came to be.
type scene struct {
	event   string // for Step.Event
	members []ring.Member
	// places are the members' places among all that ever were: script.nodes.
	places []int32
	// gone are the places of those that were members before and are not now, and died
	// tells that they crashed.
	gone []int32
	died bool
	// switched names the strategy that is switched to, with its settings; empty: none.
	switched string
}

// columns are the indices of the members by their ids, as [Step.Nodes] has them.
func (s *scene) columns() map[string]int {
	columns := make(map[string]int, len(s.members))
	for i, m := range s.members {
		columns[m.ID] = i
	}
	return columns
}

// A script is a scenario played through with nothing but members: who is there
// after each step. The first scene is the start.
type script struct {
	scenes []scene
	nodes  []string         // every id that there ever is
	place  map[string]int32 // of each id in nodes
	zones  []int            // of these nodes, from 0 on; nil: none has a zone
}

// play dry-runs the scenario from the members at the start, which must be valid. Its
// work is bounded by [MaxSteps], [MaxNodes] and loads, the sum of nodes over all scenes.
// Its error names the column of the event that cannot happen.
func (c *Config) play(s Scenario, loads int) (*script, error) {
	p := &player{
		Config:  c,
		script:  script{place: make(map[string]int32)},
		random:  rand.New(rand.NewPCG(c.Seed, 0x5ce7a710)),
		members: slices.Clone(c.Members),
		next:    len(c.Members) + 1,
		bound:   loads,
	}
	for i, m := range c.Members {
		p.placeOf(m.ID)
		if c.Zones > 0 {
			p.members[i].Zone = p.zoned(p.members[:i])
		}
	}
	p.record("start", nil)
	for _, e := range s {
		if err := p.event(e); err != nil {
			return nil, err
		}
	}
	return &p.script, nil
}

type player struct {
	*Config
	script
	random  *rand.Rand
	members []ring.Member // in the order in which they joined
	absent  []ring.Member // in the order in which they left
	next    int           // the number of the next new node
	loads   int           // nodes of all scenes so far
	bound   int           // of loads
}

func (p *player) placeOf(id string) int32 {
	i, known := p.place[id]
	if !known {
		i = int32(len(p.nodes))
		p.place[id] = i
		p.nodes = append(p.nodes, id)
	}
	return i
}

// zoned returns the zone of one more node, whose place comes next: the first of those with the fewest members.
func (p *player) zoned(members []ring.Member) string {
	if p.Zones == 0 {
		return ""
	}
	crowds := make([]int, p.Zones)
	for _, m := range members {
		crowds[p.zones[p.place[m.ID]]]++
	}
	zone := slices.Index(crowds, slices.Min(crowds))
	p.zones = append(p.zones, zone)
	return "zone-" + strconv.Itoa(zone+1)
}

// record adds a scene with the present members, and returns it.
func (p *player) record(event string, gone []int32) *scene {
	places := make([]int32, len(p.members))
	for i, m := range p.members {
		places[i] = p.place[m.ID]
	}
	p.scenes = append(p.scenes, scene{event: event, members: slices.Clone(p.members), places: places, gone: gone})
	p.loads += len(p.members)
	return &p.scenes[len(p.scenes)-1]
}

// event does an event at once or in steps, within the bounds.
func (p *player) event(e Event) error {
	n := e.nodes(len(p.members))
	switch e.Kind {
	case Remove, Crash:
		if n >= len(p.members) {
			return atColumn(e.Column, "%d of %d nodes would go, and one must stay", n, len(p.members))
		}
	case Restore:
		n = len(p.absent)
		if n == 0 {
			return atColumn(e.Column, "nobody has left who could be restored")
		}
	}
	steps, each := n, 1
	if e.AtOnce {
		steps, each = 1, n
	}
	for range steps {
		if err := p.step(e, each); err != nil {
			return err
		}
		if len(p.scenes) > MaxSteps {
			return atColumn(e.Column, "more than %d steps", MaxSteps)
		}
		if p.loads > p.bound {
			return atColumn(e.Column, "too large: the nodes of all steps so far add up to more than %d", p.bound)
		}
	}
	return nil
}

// step does an event, or one step of it, with n nodes.
func (p *player) step(e Event, n int) error {
	switch e.Kind {
	case Add:
		return p.add(e, n)
	case Remove, Crash:
		p.remove(n, e.Kind == Crash)
	case Restore:
		return p.restore(e, n)
	case SetWeight:
		return p.setWeight(e)
	case Shuffle:
		if len(p.members) == 1 || p.random.IntN(2) == 0 {
			return p.add(e, 1)
		}
		p.remove(1, false)
	case Switch:
		p.record("strategy "+e.Switch, nil).switched = e.Switch
	}
	return nil
}

func (p *player) add(e Event, n int) error {
	if err := p.fits(e, n); err != nil {
		return err
	}
	var id string
	for range n {
		for taken := true; taken; p.next++ {
			id = p.NewNode + strconv.Itoa(p.next)
			_, taken = p.place[id]
		}
		p.placeOf(id)
		p.members = append(p.members, ring.Member{ID: id, Weight: p.NewWeight, Zone: p.zoned(p.members)})
	}
	p.record(eventText("add", n, id, "nodes"), nil)
	return nil
}

// fits returns an error if n more nodes are too many.
func (p *player) fits(e Event, n int) error {
	if len(p.members)+n > MaxNodes {
		return atColumn(e.Column, "%d nodes and %d more are above %d", len(p.members), n, MaxNodes)
	}
	return nil
}

// eventText names the node if there is one, and counts them otherwise: "add node-7", "add 3 nodes".
func eventText(verb string, n int, id, noun string) string {
	if n == 1 {
		return verb + " " + id
	}
	return fmt.Sprintf("%s %d %s", verb, n, noun)
}

func (p *player) remove(n int, die bool) {
	before := len(p.members)
	var gone []int32
	for _, i := range p.chosen(n) {
		p.absent = append(p.absent, p.members[i])
		gone = append(gone, p.place[p.members[i].ID])
	}
	isGone := make([]bool, len(p.nodes))
	for _, place := range gone {
		isGone[place] = true
	}
	p.members = slices.DeleteFunc(p.members, func(m ring.Member) bool { return isGone[p.place[m.ID]] })
	verb := "remove"
	if die {
		verb = "crash"
	}
	p.record(eventText(verb, n, p.nodes[gone[0]], fmt.Sprintf("of %d", before)), gone).died = die
}

// chosen are the indices of n members by the order, the first to be chosen first.
func (p *player) chosen(n int) []int {
	if p.Order == Random {
		return p.random.Perm(len(p.members))[:n]
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
		if p.Order == LIFO {
			all[i] = len(p.members) - 1 - i
		}
	}
	return all
}

func (p *player) restore(e Event, n int) error {
	if err := p.fits(e, n); err != nil {
		return err
	}
	p.members = append(p.members, p.absent...)
	p.record(eventText("restore", n, p.absent[0].ID, "nodes"), nil)
	p.absent = nil
	return nil
}

func (p *player) setWeight(e Event) error {
	i := -1
	if e.Node == "" {
		i = p.chosen(1)[0]
	} else if i = slices.IndexFunc(p.members, func(m ring.Member) bool { return m.ID == e.Node }); i < 0 {
		return atColumn(e.Column, "%.60q is not a member then", e.Node)
	}
	m := &p.members[i]
	event := fmt.Sprintf("weight of %s from %v to %v", m.ID, m.Weight, e.Weight)
	m.Weight = e.Weight
	p.record(event, nil)
	return nil
}
