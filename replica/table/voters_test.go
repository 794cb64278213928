package table

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/replica/table/zones"
	"github.com/ringside-kv/ringside/ring"
)

// stateOf makes a table of nodes such as "a b-leaving p-proxy c-gone". One that drains leaves and
// holds a copy still.
func stateOf(text string) *State {
	s := &State{cluster: Cluster{Generation: 1}}
	var held []Row
	for _, word := range strings.Fields(text) {
		id, what, _ := strings.Cut(word, "-")
		n := Node{ID: id, Server: "s" + id, Incarnation: 1, State: Member}
		switch what {
		case "leaving":
			n.State = Leaving
		case "drains":
			n.State = Leaving
			held = append(held, Row{Row: ring.Row{Range: ring.Range{Start: ring.Token(len(held))}, Primary: id}})
		case "gone":
			n.State = Gone
		case "proxy":
			n.Role = Proxy
		case "moved":
			n.Server = "t" + id
		}
		// Two nodes of one directory; the incarnation tells which name was the last one.
		if other, ok := strings.CutPrefix(what, "is:"); ok {
			n.Server, n.Incarnation = "s"+other, 2
		}
		if other, ok := strings.CutPrefix(what, "was:"); ok {
			n.Server, n.Incarnation = "s"+other, 0
		}
		s.nodes = append(s.nodes, n)
	}
	s.rows = chunked(held, new(mark))
	return s
}

// serversOf makes a group: capitals vote.
func serversOf(text string) []raft.Server {
	var servers []raft.Server
	for _, word := range strings.Fields(text) {
		id := strings.ToLower(word)
		s := raft.Server{ID: raft.ServerID("s" + id), Address: raft.ServerAddress(id), Suffrage: raft.Nonvoter}
		if id != word {
			s.Suffrage = raft.Voter
		}
		servers = append(servers, s)
	}
	return servers
}

// reachOf says of nodes named that they have caught up, and with ! that they are
// dead; those that are not named answer but lag.
func reachOf(text string) map[string]reach {
	found := map[string]reach{}
	for _, word := range strings.Fields(text) {
		id, dead := strings.CutSuffix(word, "!")
		found[id] = reach{dead: dead, caughtUp: !dead}
	}
	return found
}

func describe(changes []change) string {
	var words []string
	for _, c := range changes {
		words = append(words, c.kind.String()+" "+string(c.server.Address))
	}
	return strings.Join(words, ", ")
}

func TestVotersFollowTheCluster(t *testing.T) {
	for _, test := range []struct{ name, nodes, servers, reach, want string }{
		{"alone", "a", "A", "", ""},
		{"two stores have one vote", "a b", "A", "", "add b"},
		{"two stores stay so", "a b", "A b", "b", ""},
		{"a third waits for the second", "a b c", "A b c", "b", ""},
		{"both have caught up", "a b c", "A b c", "b c", "promote b, promote c"},
		{"an interrupted change is finished", "a b c", "A B c", "b c", "promote c"},
		{"three of four", "a b c d", "A B C d", "b c d", ""},
		{"five, but one lags", "a b c d e", "A B C d e", "b c d", ""},
		{"five", "a b c d e", "A B C d e", "b c d e", "promote d, promote e"},
		{"from one to five as far as it goes", "a b c d e", "A b c d e", "b c d", "promote b, promote c"},
		{"never more than five", "a b c d e f g", "A B C D E f g", "b c d e f g", ""},
		{"a proxy has no vote", "a b p-proxy", "A b p", "b p", ""},
		{"who is a proxy now has none any more", "a b-proxy c d", "A B C d", "b c d", "promote d, demote b"},
		{"a dead voter is replaced", "a b c d", "A B C d", "b! c d", "promote d, demote b"},
		{"a dead voter without a spare node stays", "a b c", "A B C", "b! c", ""},
		{"nor is it replaced by a dead one", "a b c d", "A B C d", "b! c d!", ""},
		{"one that leaves", "a b c d-leaving", "A B C d", "b c d", ""},
		{"a voter that leaves, replaced", "a b c d-leaving", "A B D c", "b c d", "promote c, demote d"},
		{"two are left of three", "a b c-leaving", "A B C", "b c", "demote b, demote c"},
		{"a voter that leaves keeps its vote until its copies are elsewhere", "a b c-drains", "A B C", "b c", ""},
		{"and loses it to a store that stays", "a b c d-drains", "A B D c", "b c d", "promote c, demote d"},
		{"three of five leave at once", "a b c-drains d-drains e-drains", "A B C D E", "b c d e", ""},
		{"one of them is dead", "a b c-drains d-drains e-drains", "A B C D E", "b c d e!", "demote e, demote d"},
		{"two leave and one is forgotten", "a b c-drains d-drains e-gone", "A B C D E", "b c d", "remove e, demote d"},
		{"the first has handed over its copies", "a b c-leaving d-drains", "A B C d", "b c d", "promote d, demote c"},
		{"the second, too", "a b d-leaving", "A B D", "b d", "demote b, demote d"},
		{"the leader leaves with another", "a-drains b c d-drains", "A B D c", "b c d", "promote c, demote d"},
		{"the only voter leaves and holds copies", "a-drains b", "A b", "b", "promote b, resign a"},
		{"a dead voter that leaves and holds copies", "a b c-drains", "A B C", "b c!", "demote c, demote b"},
		{"a leader that leaves resigns", "a-leaving b c d", "A B C d", "b c d", "promote d, resign a"},
		{"the only voter leaves", "a-leaving b", "A b", "b", "promote b, resign a"},
		{"the only voter leaves, and nobody has caught up", "a-leaving b", "A b", "", ""},
		{"a forgotten node leaves the group", "a b c-gone", "A b c", "b", "remove c"},
		{"a node that nobody knows", "a b", "A b x", "b", "remove x"},
		{"a forgotten voter", "a b c d-gone", "A B D c", "b c", "promote c, remove d"},
		{"a forgotten voter of three", "a b c-gone", "A B C", "b", "remove c, demote b"},
		{"a dead voter that leaves goes before a live one", "a b c-leaving", "A B C", "b c!", "demote c, demote b"},
		{"a voter that leaves is needed beside a dead one", "a b c-leaving", "A B C", "b! c", "demote b, demote c"},
		{"one of two voters that leave is needed beside a dead one", "a b c d-leaving e-leaving", "A B D E c", "b! d e", "demote d"},
		{"a new directory", "a b-moved", "A b", "", "remove b, add b"},
		{"a directory that was started under another name", "a b x-is:b", "A b", "b", "add x"},
		{"a voter that was started under another name", "a b c x-is:b", "A B C", "b c", "add x"},
		{"a directory that has its first name again", "a b x-was:b", "A b", "b", ""},
		{"the only voter has its first name again", "a x-was:a", "A", "", ""},
		{"a voter's new directory", "a b-moved c", "A B C", "c", "remove b, add b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := describe(voters(stateOf(test.nodes), serversOf(test.servers), "a", reachOf(test.reach))); got != test.want {
				t.Errorf("%q, not %q", got, test.want)
			}
		})
	}
}

// From whatever configuration, the changes lead to one that needs none, and on the way
// there is always a voter, and never a majority of dead ones where there was none
// before.
func TestVotersComeToRest(t *testing.T) {
	for seed := range 3000 {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		var nodes, servers, reachable []string
		n := 1 + r.IntN(8)
		for i := range n {
			id := string(rune('a' + i))
			nodes = append(nodes, id+[]string{"", "", "", "-leaving", "-drains", "-gone", "-proxy", "-moved"}[r.IntN(8)*min(i, 1)])
			if i == 0 || r.IntN(2) == 0 {
				servers = append(servers, strings.ToUpper(id))
			} else if r.IntN(4) > 0 {
				servers = append(servers, id)
			}
			reachable = append(reachable, id+[]string{"", "", "!"}[r.IntN(3)])
		}
		s, group, found := stateOf(strings.Join(nodes, " ")), serversOf(strings.Join(servers, " ")), reachOf(strings.Join(reachable, " "))
		zone := randomZones(t, r, s)
		history := fmt.Sprintf("seed %d: %v %v %v %v", seed, nodes, servers, reachable, zone)
		for round := 0; ; round++ {
			changes := voters(s, group, "a", found)
			if len(changes) == 0 {
				checkSpread(t, s, group, found, zone, history)
				break
			}
			history += "; " + describe(changes)
			if round == 5 {
				t.Fatal(history)
			}
			for _, c := range changes {
				could := majorityLives(s, group, found)
				group = changed(t, group, c)
				if could && !majorityLives(s, group, found) {
					t.Fatalf("%s: after %s %s most voters are dead", history, c.kind, c.server.Address)
				}
				votes := 0
				for _, server := range group {
					if server.Suffrage == raft.Voter {
						votes++
					}
				}
				if votes == 0 {
					t.Fatalf("%s: nobody votes", history)
				}
			}
		}
	}
}

// randomZones puts the nodes into zones, in one of two cases.
func randomZones(t *testing.T, r *rand.Rand, s *State) map[string]string {
	t.Helper()
	zone := make(map[string]string)
	if r.IntN(2) == 0 {
		return zone
	}
	for i := range s.nodes {
		id := s.nodes[i].ID
		if change, ok := zones.Set(s.values, id, []string{"", "x", "y", "z"}[r.IntN(4)]); ok {
			zone[id] = change.Body
			var err error
			if s.values, err = s.values.With([]agreed.Change{change}, uint64(i+1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return zone
}

// checkSpread checks that no spare node is in a zone with at least two voters less than another zone has.
func checkSpread(t *testing.T, s *State, group []raft.Server, found map[string]reach, zone map[string]string, history string) {
	t.Helper()
	votes := make(map[string]int)
	stays := func(n Node, server raft.Server) bool { return n.Votes() && n.Server == string(server.ID) }
	for _, server := range group {
		if n, ok := s.Node(string(server.Address)); ok && server.Suffrage == raft.Voter && stays(n, server) {
			votes[zone[n.ID]]++
		}
	}
	delete(votes, "")
	for _, server := range group {
		n, ok := s.Node(string(server.Address))
		if !ok || server.Suffrage == raft.Voter || !stays(n, server) || !found[n.ID].caughtUp {
			continue
		}
		for z, count := range votes {
			if count > votes[zone[n.ID]]+1 {
				t.Fatalf("%s: zone %s has %d votes, and %s of %q none", history, z, count, n.ID, zone[n.ID])
			}
		}
	}
}

// majorityLives reports whether a group could agree on anything. Who is gone, or has
// another directory now, does not answer.
func majorityLives(s *State, group []raft.Server, found map[string]reach) bool {
	votes, live := 0, 0
	for _, server := range group {
		if server.Suffrage != raft.Voter {
			continue
		}
		votes++
		n, ok := s.Node(string(server.Address))
		if ok && n.State != Gone && n.Server == string(server.ID) && (n.ID == "a" || !found[n.ID].dead) {
			live++
		}
	}
	return 2*live > votes
}

func changed(t *testing.T, group []raft.Server, c change) []raft.Server {
	t.Helper()
	var next []raft.Server
	for _, s := range group {
		if s.ID == c.server.ID {
			switch c.kind {
			case promote:
				s.Suffrage = raft.Voter
			case demote:
				s.Suffrage = raft.Nonvoter
			case expel:
				continue
			}
		}
		next = append(next, s)
	}
	if c.kind == addLearner {
		for _, s := range group {
			if s.Address == c.server.Address {
				t.Fatalf("%v is added beside %v", c.server, s)
			}
		}
		next = append(next, raft.Server{ID: c.server.ID, Address: c.server.Address, Suffrage: raft.Nonvoter})
	}
	return next
}
