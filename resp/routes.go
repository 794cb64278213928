package resp

import (
	"maps"
	"slices"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// Routes say which node serves which keys. They never change once they are set;
// a new placement, or a range that is put on hold, makes new ones.
type Routes struct {
	Placement *ring.Placement
	// Strategy is the name of the strategy in force.
	Strategy string
	// Self is this node, by its id.
	Self string
	// Nodes are the nodes that the placement names, by id. A node that is not here
	// cannot be reached.
	Nodes map[string]Route
	// Held are the numbers of the placement's ranges that this node neither serves
	// nor hands to anyone for the moment: they are about to change hands. Requests for
	// them wait for new routes.
	Held map[int]bool
	// Lost are the numbers of the ranges of which there is no copy any more.
	Lost map[int]bool
	// Moving are the nodes of which ranges are about to get another primary, Failing those that
	// have ranges and seem to be gone.
	Moving, Failing []string
	// Policies are those of the databases; nil if each has the default. [Server.SetRoutes] adds what Values
	// say: the order of the databases, and the keys that move.
	Policies *database.Policies
	// Values are what the nodes of a cluster of a Generation agree on by name, as of an Index of its table; nil if
	// there is nothing.
	Values            *agreed.Values
	Generation, Index uint64
	// Why is what those requests are answered that have waited too long; empty: the key
	// is changing hands.
	Why string
	// Isolated tells that this node has reached no majority for some time. Requests wait
	// no longer than isolatedTimeout for other nodes, and for a majority not at all.
	Isolated bool

	term  uint64        // rises with each change
	next  chan struct{} // closed when there are newer ones
	owner []int32       // of each range: a place in links, or one of the below
	links []*Route
	peers []*Route // all other nodes that seem to be there, whether they serve anything or not
	// fewest is how many copies that range of this node has which has fewest.
	fewest int
	owned                // what is this node's
	slots  onceSlotTable // for CLUSTER
}

// In Routes.owner.
const (
	ownerSelf    = -1
	ownerNone    = -2 // no copy is there, or its node is not known
	ownerHeld    = -3
	ownerSeveral = -4 // of a request: its keys lie at several nodes
)

// A Route leads to one node.
type Route struct {
	ID   string
	Addr string // where clients find it
	// Proxy tells that it routes and has no keys.
	Proxy bool
	// Away tells that it seems to be gone, so far as is known here.
	Away bool
	Zone string // empty: none
	// Link takes requests there; nil if there is no way at present.
	Link Link

	known uint64 // what these routes know; see Terms
}

// policies returns those of the databases. r may be nil: on a lone node.
func (r *Routes) policies() *database.Policies {
	if r == nil {
		return nil
	}
	return r.Policies
}

// swaps returns how many swaps of databases are known.
func (r *Routes) swaps() uint64 { return r.policies().Swaps() }

// known is what both sides of a forwarded request must know, see Terms.Known. A version is larger than all swaps before it.
func (r *Routes) known() uint64 {
	if r == nil {
		return 0
	}
	return r.swaps() + r.Values.Of(agreed.ReplicaofName).Version
}

// holds reports whether a command on all keys has to wait for newer routes.
func (r *Routes) holds(cmd *command.Row) bool {
	return r.held || r.Policies.Swapping() && cmd.Full != "swapdb" && cmd.Full != "ring|drained"
}

// What nodes send each other: see package relay.
type (
	Link    = relay.Link
	Way     = relay.Way
	Terms   = relay.Terms
	Replies = relay.Replies
	Status  = relay.Status
)

// SetRoutes makes the server one of several: from now on it runs requests for its own
// ranges and forwards the others. It returns at once; see [Server.Quiesce].
func (s *Server) SetRoutes(r *Routes) {
	s.routing.Lock()
	defer s.routing.Unlock()
	old := s.routes.Load()
	var before *database.Policies
	if old != nil {
		before = old.Policies
	}
	r.Policies = r.Policies.Agreed(r.Values, before, s.rehome.position)
	r.next = make(chan struct{})
	places := make(map[string]int32, len(r.Nodes))
	r.owner = make([]int32, r.Placement.Len())
	i := 0
	for row := range r.Placement.Rows() {
		r.owner[i] = r.placeOf(row.Primary, places)
		if r.Held[i] {
			r.owner[i] = ownerHeld
		}
		if r.Lost[i] {
			r.owner[i] = ownerNone
		}
		if r.Nodes[row.Primary].Away && !slices.Contains(r.Failing, row.Primary) {
			r.Failing = append(r.Failing, row.Primary)
		}
		i++
	}
	for _, node := range slices.Sorted(maps.Keys(r.Nodes)) {
		route := r.Nodes[node]
		if route.known = r.known(); node != r.Self && route.Link != nil && !route.Away {
			r.peers = append(r.peers, &route)
		}
	}
	r.findOwn()
	r.leastCopies()
	r.term, r.ownTerm = 1, 1
	var earlier *ring.Placement
	if old != nil {
		earlier = old.Placement
		r.term, r.ownTerm = old.term+1, old.ownTerm
		if !slices.Equal(r.spans, old.spans) || !r.Policies.MovedOnly(old.Policies) {
			r.ownTerm++
		}
	}
	s.keyEvents.Begin()
	s.scripts.functions.Agreed(r.Values)
	if r.Generation != 0 { // else the table of the cluster is not known yet
		s.users.SetReplica(r.Values, r.Generation, r.Index) // before a unit goes by these routes: see settle
	}
	s.routes.Store(r)
	if old != nil {
		close(old.next)
	}
	s.countSets(old, r)
	s.watchers.Tell(earlier, r.Placement)
	s.Notices.Follow(r.Moving, r.Failing)
	if old != nil && old.ownTerm != r.ownTerm {
		s.tracking.everything()
	}
	s.blocked.rerouted(r)
	s.rehome.node.Follow(r.Policies)
	peers := r.livePeers()
	s.keyEvents.Relink(peers, func(node string) bool { _, ok := r.Nodes[node]; return ok })
	s.monitors.Follow(peers)
	s.tracking.updateFeeds(r)
}

func (r *Routes) placeOf(node string, places map[string]int32) int32 {
	if node == r.Self {
		return ownerSelf
	}
	if place, known := places[node]; known {
		return place
	}
	route, ok := r.Nodes[node]
	if !ok {
		return ownerNone
	}
	place := int32(len(r.links))
	route.known = r.known()
	r.links = append(r.links, &route)
	places[node] = place
	return place
}

// away tells whether every node that has a copy of a token's range seems to be gone.
func (r *Routes) away(t ring.Token) bool {
	row := r.Placement.Lookup(t)
	gone := func(node string) bool {
		route, known := r.Nodes[node]
		return node != r.Self && (!known || route.Away)
	}
	return gone(row.Primary) && !slices.ContainsFunc(row.Backups, func(node string) bool { return !gone(node) })
}

// of is who serves a token.
func (r *Routes) of(t ring.Token) int32 { return r.owner[r.Placement.Index(t)] }

// ofAll is who serves all of the places.
func (r *Routes) ofAll(places []store.Place) int32 {
	if len(places) == 1 {
		return r.of(places[0].Token())
	}
	owner := int32(ownerSelf)
	for i, p := range places {
		switch this := r.of(p.Token()); {
		case i == 0:
			owner = this
		case this == ownerHeld || owner == ownerHeld:
			owner = ownerHeld
		case this != owner:
			owner = ownerSeveral
		}
	}
	return owner
}
