package sim

import "slices"

// A tally counts what a step moves, and keeps what each node has from step to step.
type tally struct {
	nodes []nodeTally // by place in script.nodes
	zones []int       // script.zones
	// Outcome has what the step moved. OneZone is kept from step to step.
	Outcome
}

// nodeTally is what a node has.
type nodeTally struct {
	primary load
	copies  Amount // with the primaries
}

// roles tell who is who in a step, by place in script.nodes.
type roles []role

type role uint8

const (
	due    role = 1 << iota // joined or gained weight: may well receive
	giving                  // left, died or lost weight: others may well receive what it had
	dead                    // and what it had is gone with it
)

func rolesOf(s *script, step int) roles {
	r := make(roles, len(s.nodes))
	if step == 0 {
		return r
	}
	if s.scenes[step].switched != "" {
		for place := range r {
			r[place] = due // under another strategy, others may own any key
		}
		return r
	}
	weight := make([]float64, len(s.nodes))
	for i, m := range s.scenes[step].members {
		weight[s.scenes[step].places[i]] = m.Weight
	}
	for i, m := range s.scenes[step-1].members {
		weight[s.scenes[step-1].places[i]] -= m.Weight
	}
	for place, gained := range weight {
		switch {
		case gained > 0:
			r[place] = due
		case gained < 0:
			r[place] = giving
		}
	}
	if s.scenes[step].died {
		for _, place := range s.scenes[step].gone {
			r[place] |= dead
		}
	}
	return r
}

// place counts what some keys weigh where they are, which moves nothing.
func (t *tally) place(owners []int32, l load) {
	if t.share(owners) {
		t.OneZone += l.Keys
	}
	for i, node := range owners {
		n := &t.nodes[node]
		n.copies.add(l.Amount)
		if i == 0 {
			n.primary.add(l)
		}
	}
}

// change counts keys whose owners were others before the step. Both lists are of
// distinct places, the primary first, and neither is empty.
func (t *tally) change(before, after []int32, roles roles, l load) {
	t.place(before, l.negative())
	t.place(after, l)

	given, alive := 0, 0
	for _, node := range before {
		if roles[node]&giving != 0 && !slices.Contains(after, node) {
			given++
		}
		if roles[node]&dead == 0 {
			alive++
		}
	}
	if alive == 0 {
		t.Lost.add(l.Amount)
		return // the new owners start empty
	}
	if after[0] != before[0] && slices.Contains(before, after[0]) {
		t.Promoted += l.Keys
	}
	received := 0
	for i, node := range after {
		if slices.Contains(before, node) {
			continue
		}
		t.Moved.add(l.Amount)
		if i > 0 {
			t.Backups.add(l.Amount)
		}
		if roles[node]&due == 0 {
			received++
		}
	}
	if received > given {
		t.Survivors.add(l.times(received - given))
	}
}

// add is how the tallies of several workers become one.
func (t *tally) add(o *tally) {
	for i := range o.nodes {
		t.nodes[i].primary.add(o.nodes[i].primary)
		t.nodes[i].copies.add(o.nodes[i].copies)
	}
	t.OneZone += o.OneZone
	t.Moved.add(o.Moved)
	t.Backups.add(o.Backups)
	t.Survivors.add(o.Survivors)
	t.Lost.add(o.Lost)
	t.Promoted += o.Promoted
}

// begin forgets what the last step moved.
func (t *tally) begin() { t.Outcome = Outcome{OneZone: t.OneZone} }

// share reports whether two of the owners are in one zone.
func (t *tally) share(owners []int32) bool {
	if t.zones == nil {
		return false
	}
	for i, node := range owners {
		for _, other := range owners[:i] {
			if t.zones[node] == t.zones[other] {
				return true
			}
		}
	}
	return false
}
