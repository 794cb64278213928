package table

import (
	"cmp"
	"slices"

	"github.com/hashicorp/raft"

	"github.com/ringside-kv/ringside/replica/table/zones"
)

// A changeKind is what can be done to the group's configuration.
type changeKind uint8

const (
	addLearner changeKind = iota // a server that follows without a vote; one that is there gets its node's name
	promote                      // gets a vote
	demote                       // loses it
	expel                        // leaves the group
	resign                       // the leader, which is the server, hands its office to another voter
)

func (k changeKind) String() string {
	return [...]string{"add", "promote", "demote", "remove", "resign"}[k]
}

type change struct {
	kind   changeKind
	server raft.Server
}

// A reach is what the leader found when it asked a node.
type reach struct {
	dead     bool // out of reach for long enough to be replaced
	caughtUp bool // it answers, and has all that the leader had
}

// votersFor is how many voters a number of stores has.
func votersFor(stores int) int {
	switch {
	case stores <= 2:
		return 1
	case stores <= 4:
		return 3
	default:
		return 5
	}
}

// voters says what has to be done, in this order, until the group is as the table
// wants it: all nodes are in it, and as many stores vote as the cluster's size asks
// for. It adds voters only in such numbers that they are odd again, once all of them
// have caught up; a dead voter is replaced, but only a node that leaves or is
// forgotten takes a vote away. The leader is no party to its own removal: it resigns,
// and its successor goes on.
//
// A node that leaves counts for the cluster's size until its last copy is elsewhere, and
// votes where no other store can. If it lost its vote at once, several leaves at the same
// time would make one or two votes out of five, and the next node to fail would stop the
// group while the leaves still move data.
func voters(s *State, servers []raft.Server, leader string, found map[string]reach) []change {
	v := voterPlan{s: s, leader: leader, found: found, answers: make(map[raft.ServerID]bool), directories: s.directories(), leaving: s.leavingHolders()}
	servers = v.renamed(servers)
	for _, server := range servers {
		node, ok := s.Node(string(server.Address))
		helps := ok && v.leaving[node.ID] && !v.dead(server)
		if server.Suffrage == raft.Voter {
			isNode := ok && node.State != Gone && node.Server == string(server.ID)
			v.answers[server.ID] = isNode && !v.dead(server)
		}
		switch {
		case !ok || node.State == Gone || node.Server != string(server.ID):
			v.expelled = append(v.expelled, server)
		case server.Suffrage == raft.Voter && node.Votes():
			v.voting = append(v.voting, server)
		case server.Suffrage == raft.Voter && helps:
			v.helping = append(v.helping, server)
		case server.Suffrage == raft.Voter:
			v.retiring = append(v.retiring, server)
		case node.Votes() && found[node.ID].caughtUp && !found[node.ID].dead:
			v.spare = append(v.spare, server)
		case helps && found[node.ID].caughtUp:
			v.reserve = append(v.reserve, server)
		}
	}
	v.leavers = len(v.helping) + len(v.reserve)
	v.strangers(servers)
	v.fill()
	v.replace()
	v.shrink()
	v.spread()
	for _, server := range v.expelled {
		v.remove(expel, server)
	}
	v.removeInOrder()
	return v.changes
}

// voterPlan is the group, sorted by what is to be done with each server.
type voterPlan struct {
	s      *State
	leader string
	found  map[string]reach

	directories map[string]*Node // see State.directories

	leaving map[string]bool // see State.leavingHolders

	voting   []raft.Server // stores with a vote that keep it, as far as they are needed
	helping  []raft.Server // voters that leave and hold copies still
	retiring []raft.Server // voters that leave, or are proxies now
	spare    []raft.Server // stores that could have a vote
	reserve  []raft.Server // those that could have one but leave and hold copies still
	leavers  int           // how many are in helping and reserve at first
	expelled []raft.Server // servers that are no nodes any more, or have another directory now

	// answers are the voters, as they are after the changes so far, and whether they
	// are likely to answer.
	answers  map[raft.ServerID]bool
	changes  []change
	removals []change // which come after all others
}

func (v *voterPlan) add(kind changeKind, server raft.Server) {
	v.changes = append(v.changes, change{kind, server})
}

// want is the number of voters that the cluster's size asks for.
func (v *voterPlan) want() int {
	stores := v.leavers
	for i := range v.s.nodes {
		stores += bit(v.s.nodes[i].Votes())
	}
	return votersFor(stores)
}

// renamed gives each server the name of the node that its directory was last started as.
func (v *voterPlan) renamed(servers []raft.Server) []raft.Server {
	servers = slices.Clone(servers)
	for i := range servers {
		if n := v.directories[string(servers[i].ID)]; n != nil && n.ID != string(servers[i].Address) {
			servers[i].Address = raft.ServerAddress(n.ID)
			v.add(addLearner, servers[i])
		}
	}
	return servers
}

// strangers adds the nodes that the group does not know. A node with a new directory
// is a new server, which can only be added when the old one has left.
func (v *voterPlan) strangers(servers []raft.Server) {
	for i := range v.s.nodes {
		n := &v.s.nodes[i]
		if n.State == Gone || n.Server == "" || v.directories[n.Server] != n {
			continue
		}
		same := func(s raft.Server) bool { return string(s.Address) == n.ID }
		if at := slices.IndexFunc(v.expelled, same); at >= 0 {
			v.removeNow(expel, v.expelled[at])
			v.expelled = slices.Delete(v.expelled, at, at+1)
		} else if slices.ContainsFunc(servers, same) {
			continue
		}
		v.add(addLearner, raft.Server{ID: raft.ServerID(n.Server), Address: raft.ServerAddress(n.ID)})
	}
}

// fill promotes up to the largest odd number that can be reached. Nodes that leave come
// last, of them first the leader, so that its office does not change hands twice.
func (v *voterPlan) fill() {
	goal := min(v.want(), len(v.voting)+len(v.spare)+len(v.helping)+len(v.reserve))
	goal -= 1 - goal%2
	for len(v.voting) < goal && len(v.spare) > 0 {
		v.promote(zones.Roomiest(v.s.values, v.spare, v.voting, nodeOf))
	}
	slices.SortStableFunc(v.helping, func(a, b raft.Server) int { return rank(v, a) - rank(v, b) })
	stay := min(max(goal-len(v.voting), 0), len(v.helping))
	v.voting = append(v.voting, v.helping[:stay]...)
	v.retiring = append(v.retiring, v.helping[stay:]...)
	for len(v.voting) < goal {
		v.spare = append(v.spare, v.reserve[0])
		v.reserve = v.reserve[1:]
		v.promote(len(v.spare) - 1)
	}
}

func nodeOf(s raft.Server) string { return string(s.Address) }

func (v *voterPlan) promote(at int) {
	server := v.spare[at]
	v.add(promote, server)
	v.answers[server.ID] = true
	v.voting, v.spare = append(v.voting, server), slices.Delete(v.spare, at, at+1)
}

// spread takes votes to zones that have fewer, so that a zone that fails takes no more than it must.
func (v *voterPlan) spread() {
	for from, to := 0, 0; ; {
		if from, to = zones.Uneven(v.s.values, v.voting, v.spare, nodeOf, v.leader); from < 0 {
			return
		}
		server := v.voting[from]
		v.promote(to)
		v.retire(server)
	}
}

// replace gives the vote of a dead node to another: first the new voter, so that
// there is never a moment with one less.
func (v *voterPlan) replace() {
	for _, server := range slices.Clone(v.voting) {
		if v.dead(server) && len(v.spare) > 0 {
			v.promote(zones.Roomiest(v.s.values, v.spare, v.voting, nodeOf))
			v.retire(server)
		}
	}
}

func (v *voterPlan) retire(server raft.Server) {
	v.voting = slices.DeleteFunc(v.voting, func(s raft.Server) bool { return s.ID == server.ID })
	v.remove(demote, server)
}

// shrink takes votes away that the cluster's size does not ask for, and those of
// nodes that leave once others can take their place.
func (v *voterPlan) shrink() {
	if len(v.voting) > v.want() {
		// Kept are the leader, then live nodes, then those with lower ids.
		order := slices.SortedFunc(slices.Values(v.voting), func(a, b raft.Server) int {
			return cmp.Or(rank(v, a)-rank(v, b), cmp.Compare(a.Address, b.Address))
		})
		for _, server := range slices.Backward(order[v.want():]) {
			v.retire(server)
		}
	}
	if len(v.voting) == 0 {
		return
	}
	for _, server := range v.retiring {
		v.remove(demote, server)
	}
}

func rank(v *voterPlan, s raft.Server) int {
	if string(s.Address) == v.leader {
		return 0
	}
	return 1 + bit(v.dead(s))
}

func (v *voterPlan) dead(s raft.Server) bool {
	return string(s.Address) != v.leader && v.found[string(s.Address)].dead
}

// remove takes a server's vote or place, in the order of removeInOrder.
func (v *voterPlan) remove(kind changeKind, server raft.Server) {
	v.removals = append(v.removals, change{kind, server})
}

// removeInOrder does what was put off. A change needs a majority of those that are
// left after it, so who does not answer goes first, then who is no node any more, for
// that one will hardly answer; had a live voter gone before them, the majority might
// have been lost for ever. For the same reason a live voter stays that is needed
// beside the dead ones that stay. The leader comes last, since it leads no more then.
func (v *voterPlan) removeInOrder() {
	last := func(c change) int {
		switch {
		case string(c.server.Address) == v.leader:
			return 3
		case v.dead(c.server):
			return 0
		case c.kind == expel:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(v.removals, func(a, b change) int { return last(a) - last(b) })
	for _, c := range v.removals {
		if !v.needed(c.server) {
			v.removeNow(c.kind, c.server)
		}
	}
}

// needed reports whether there is a majority with a voter and none without it.
func (v *voterPlan) needed(server raft.Server) bool {
	answers, votes := v.answers[server.ID]
	if !votes || !answers || string(server.Address) == v.leader {
		return false
	}
	live := 0
	for _, answers := range v.answers {
		live += bit(answers)
	}
	return 2*live > len(v.answers) && 2*(live-1) <= len(v.answers)-1
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// removeNow does it. The leader resigns instead, if there is anyone to resign to.
func (v *voterPlan) removeNow(kind changeKind, server raft.Server) {
	if string(server.Address) != v.leader {
		v.add(kind, server)
		delete(v.answers, server.ID)
		return
	}
	for _, other := range v.voting {
		if string(other.Address) != v.leader && !v.dead(other) {
			v.add(resign, server)
			return
		}
	}
}
