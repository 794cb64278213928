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

// A script is a scenario played through with nothing but members: who is there
// after each step. The first scene is the start.
type script struct {
	scenes []scene
	nodes  []string // every id that there ever is
	zones  []int    // of these nodes, from 0 on; nil: none has a zone
}

// casting is what decides who joins and who leaves.
type casting struct {
	order     string
	seed      uint64
	newNode   string
	newWeight float64
	zones     int // how many zones there are; 0: nodes have none
	// loads bounds the sum of nodes over all scenes.
	loads int
}

// play dry-runs the scenario from the members at the start, which must be valid. Its
// work is bounded by [MaxSteps], [MaxNodes] and casting.loads, and its error names
// the column of the event that cannot happen.
func (s Scenario) play(start []ring.Member, cast casting) (*script, error) {
	p := &player{
		cast:    cast,
		random:  rand.New(rand.NewPCG(cast.seed, 0x5ce7a710)),
		place:   make(map[string]int32),
		members: slices.Clone(start),
		next:    len(start) + 1,
	}
	for i, m := range start {
		p.placeOf(m.ID)
		if cast.zones > 0 {
			p.members[i].Zone = p.zoned(p.members[:i])
		}
	}
	p.record("start", nil, false)
	for _, e := range s {
		if err := p.event(e); err != nil {
			return nil, err
		}
	}
	return &p.script, nil
}

type player struct {
	script
	cast    casting
	random  *rand.Rand
	place   map[string]int32
	members []ring.Member // in the order in which they joined
	absent  []ring.Member // in the order in which they left
	next    int           // the number of the next new node
	loads   int
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
	if p.cast.zones == 0 {
		return ""
	}
	crowds := make([]int, p.cast.zones)
	for _, m := range members {
		crowds[p.zones[p.place[m.ID]]]++
	}
	zone := slices.Index(crowds, slices.Min(crowds))
	p.zones = append(p.zones, zone)
	return "zone-" + strconv.Itoa(zone+1)
}

func (p *player) record(event string, gone []int32, died bool) {
	places := make([]int32, len(p.members))
	for i, m := range p.members {
		places[i] = p.place[m.ID]
	}
	p.scenes = append(p.scenes, scene{event: event, members: slices.Clone(p.members), places: places, gone: gone, died: died})
	p.loads += len(p.members)
}

func (p *player) event(e Event) error {
	switch e.Kind {
	case Add:
		return p.inSteps(e, e.Count, p.add)
	case Remove, Crash:
		n := e.nodes(len(p.members))
		if n >= len(p.members) {
			return atColumn(e.Column, "%d of %d nodes would go, and one must stay", n, len(p.members))
		}
		return p.inSteps(e, n, func(e Event, n int) error { return p.remove(e, n, e.Kind == Crash) })
	case Restore:
		return p.inSteps(e, len(p.absent), p.restore)
	case Switch:
		return p.inSteps(e, 1, func(e Event, _ int) error {
			p.record("strategy "+e.Switch, nil, false)
			p.scenes[len(p.scenes)-1].switched = e.Switch
			return nil
		})
	case SetWeight:
		return p.inSteps(e, 1, func(e Event, _ int) error { return p.setWeight(e) })
	default:
		return p.inSteps(e, e.Count, func(e Event, _ int) error {
			if len(p.members) == 1 || p.random.IntN(2) == 0 {
				return p.add(e, 1)
			}
			return p.remove(e, 1, false)
		})
	}
}

// inSteps does an event at once or one node after the other, within the bounds.
func (p *player) inSteps(e Event, n int, do func(e Event, n int) error) error {
	steps, each := n, 1
	if e.AtOnce {
		steps, each = 1, n
	}
	for range steps {
		if err := do(e, each); err != nil {
			return err
		}
		if len(p.scenes) > MaxSteps {
			return atColumn(e.Column, "more than %d steps", MaxSteps)
		}
		if p.loads > p.cast.loads {
			return atColumn(e.Column, "too large: the nodes of all steps so far add up to more than %d", p.cast.loads)
		}
	}
	return nil
}

func (p *player) add(e Event, n int) error {
	if len(p.members)+n > MaxNodes {
		return atColumn(e.Column, "%d nodes and %d more are above %d", len(p.members), n, MaxNodes)
	}
	for range n {
		id := p.cast.newNode + strconv.Itoa(p.next)
		for p.isTaken(id) {
			p.next++
			id = p.cast.newNode + strconv.Itoa(p.next)
		}
		p.next++
		p.placeOf(id)
		p.members = append(p.members, ring.Member{ID: id, Weight: p.cast.newWeight, Zone: p.zoned(p.members)})
	}
	if n == 1 {
		p.record("add "+p.members[len(p.members)-1].ID, nil, false)
	} else {
		p.record(fmt.Sprintf("add %d nodes", n), nil, false)
	}
	return nil
}

func (p *player) isTaken(id string) bool {
	_, taken := p.place[id]
	return taken
}

func (p *player) remove(e Event, n int, die bool) error {
	before := len(p.members)
	var gone []int32
	isGone := make([]bool, len(p.nodes))
	for _, i := range p.chosen(n) {
		m := p.members[i]
		p.absent = append(p.absent, m)
		place := p.place[m.ID]
		gone = append(gone, place)
		isGone[place] = true
	}
	p.members = slices.DeleteFunc(p.members, func(m ring.Member) bool { return isGone[p.place[m.ID]] })
	verb := "remove"
	if die {
		verb = "crash"
	}
	if n == 1 {
		p.record(verb+" "+p.nodes[gone[0]], gone, die)
	} else {
		p.record(fmt.Sprintf("%s %d of %d", verb, n, before), gone, die)
	}
	return nil
}

// chosen are the indices of n members by the order, the first to be chosen first.
func (p *player) chosen(n int) []int {
	var all []int
	switch p.cast.order {
	case LIFO:
		for i := range n {
			all = append(all, len(p.members)-1-i)
		}
	case FIFO:
		for i := range n {
			all = append(all, i)
		}
	default:
		all = p.random.Perm(len(p.members))[:n]
	}
	return all
}

func (p *player) restore(e Event, n int) error {
	if n == 0 {
		return atColumn(e.Column, "nobody has left who could be restored")
	}
	if len(p.members)+n > MaxNodes {
		return atColumn(e.Column, "%d nodes and %d more are above %d", len(p.members), n, MaxNodes)
	}
	p.members = append(p.members, p.absent...)
	event := fmt.Sprintf("restore %d nodes", n)
	if n == 1 {
		event = "restore " + p.absent[0].ID
	}
	p.absent = nil
	p.record(event, nil, false)
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
	p.record(event, nil, false)
	return nil
}
