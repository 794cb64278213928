package ring

import (
	"errors"
	"fmt"
)

// A Strategy says where keys lie and which nodes should own which ranges. It is pure: the
// same input has the same answer on every node, whatever the order of the members.
// It may be used from any goroutine.
type Strategy interface {
	// Name is what settings call the strategy: see package ring/strategy.
	Name() string
	// Token is the strategy's [TokenFunc].
	Token(key []byte) Token
	// Desired returns the placement that the members should have. Epochs go on from
	// the present placement: a range keeps its epoch as long as it keeps its bounds
	// and its primary. There are no learners in it. An error wraps the errors of
	// this package.
	Desired(in Input) (*Placement, error)
}

// Input is what a desired placement follows from.
type Input struct {
	Members []Member
	// Backups is how many copies are wanted beside the primary. With too few nodes
	// for that, each has a copy: see [Input.Copies].
	Backups int
	// Present is the placement as it is, nil if there is none yet. Nodes in it that
	// are not members any more are treated as gone.
	Present *Placement
	// Overrides are ranges that load balancing gives to other primaries, ordered and disjoint: see
	// [CheckOverrides]. Of the strategies only buckets see them; package ring/strategy applies them to
	// the placements of all others.
	Overrides []Override
	// Load returns what lies in a range; nil if unknown.
	Load func(Range) Load
	// MostPoints is how many points all nodes may have together at most; 0 is [MaxPoints].
	MostPoints int
}

// Load is what a range holds.
type Load struct {
	Keys    int64
	Bytes   int64 // of keys and values
	Largest int64 // bytes of its largest key with its value; 0 if unknown
}

// Add returns the load of two ranges together.
func (l Load) Add(m Load) Load {
	return Load{Keys: l.Keys + m.Keys, Bytes: l.Bytes + m.Bytes, Largest: max(l.Largest, m.Largest)}
}

// Copies is how many copies of a range the members can keep: the primary and the
// backups, all on distinct nodes.
func (in Input) Copies() int {
	return min(in.Backups, len(in.Members)-1) + 1
}

// Check returns the members ordered by id, or an error that joins every fault of
// the input.
func (in Input) Check() ([]Member, error) {
	members, err := SortedMembers(in.Members)
	if in.Backups < 0 {
		err = errors.Join(err, fmt.Errorf("%w: %d is negative", ErrBackups, in.Backups))
	}
	return members, err
}
