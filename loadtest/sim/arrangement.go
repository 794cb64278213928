package sim

import (
	"fmt"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// An arrangement is where a contender of a benchmark places keys among nodes. Nodes are numbers, and
// their ids are in the same order. It never changes.
type arrangement interface {
	// next is the one after a change to other nodes, which are in order.
	next(nodes []int32) (arrangement, error)
	// finder returns a function that finds the node of a key, for use by one goroutine.
	finder() (keyFinder, error)
	// bytes is the memory that it takes.
	bytes() int
}

type keyFinder func(key []byte) int32

// newArrangement is one without nodes, of which only next may be called.
func newArrangement(e *entry, base strategy.Config, r roster) arrangement {
	if e.strategy != nil {
		return &placed{strategy: e.strategy, roster: r}
	}
	return ruled{rule: newRule(e), roster: r, hash: keyHash(base)}
}

// keyHash is the hash of 64 bits for contenders without tokens.
func keyHash(base strategy.Config) func([]byte) uint64 {
	if base.Hash == strategy.Native {
		return func(key []byte) uint64 { return wideHash(ring.HashTag(key)) }
	}
	token, err := base.TokenFunc()
	if err != nil {
		panic("sim: the hash was checked before: " + err.Error())
	}
	return func(key []byte) uint64 { return mix(uint64(token(key)) + 1) }
}

// A roster is all nodes that there may be, as members of weight 1, by their numbers.
type roster []ring.Member

func newRoster(n int) roster {
	r := make(roster, n)
	for i := range r {
		r[i] = ring.Member{ID: fmt.Sprintf("node-%06d", i), Weight: 1}
	}
	return r
}

func (r roster) members(nodes []int32) []ring.Member {
	members := make([]ring.Member, len(nodes))
	for i, n := range nodes {
		members[i] = r[n]
	}
	return members
}

// placed is the arrangement of a strategy.
type placed struct {
	strategy  ring.Strategy
	roster    roster
	placement *ring.Placement
	owners    []int32 // of its rows
}

func (p *placed) next(nodes []int32) (arrangement, error) {
	members := p.roster.members(nodes)
	placement, err := p.strategy.Desired(ring.Input{Members: members, Present: p.placement})
	if err != nil {
		return nil, err
	}
	places := make(map[string]int32, len(nodes))
	for i, m := range members {
		places[m.ID] = nodes[i]
	}
	after := &placed{strategy: p.strategy, roster: p.roster, placement: placement, owners: make([]int32, placement.Len())}
	for i := range after.owners {
		after.owners[i] = places[placement.Row(i).Primary]
	}
	return after, nil
}

func (p *placed) finder() (keyFinder, error) {
	return func(key []byte) int32 { return p.owners[p.placement.Index(p.strategy.Token(key))] }, nil
}

func (p *placed) bytes() int { return p.placement.Bytes() }

// ruled is the arrangement of a rule.
type ruled struct {
	rule   rule
	roster roster
	hash   func(key []byte) uint64
}

func (r ruled) next(nodes []int32) (arrangement, error) {
	after, err := r.rule.next(r.roster.members(nodes), nodes)
	return ruled{after, r.roster, r.hash}, err
}

func (r ruled) finder() (keyFinder, error) {
	find, err := r.rule.finder(1)
	var room [1]int32
	return func(key []byte) int32 { return find(r.hash(key), room[:0])[0] }, err
}

func (r ruled) bytes() int { return r.rule.bytes(0) }
