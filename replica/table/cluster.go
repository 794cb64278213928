package table

import (
	"fmt"
	"unicode/utf8"

	"github.com/ringside-kv/ringside/ring"
)

// Cluster is what all nodes of a cluster have in common: fixed when it is founded, but
// for its Moves.
type Cluster struct {
	Name string
	// Generation tells this cluster from every other of its name: a random number,
	// chosen by the founder, and again by the recovery of a cluster that has lost its
	// majority. Never 0.
	Generation uint64
	Strategy   Settings
	// Backups is how many copies are wanted beside the primary.
	Backups int
	// Moves are of the zero value when the cluster is founded; see [SetMoves].
	Moves
}

// Moves say how data may move between nodes.
type Moves struct {
	// Paused reports that no node copies anything for a handoff. What is under way
	// keeps its place.
	Paused bool
	// Throttle is how many bytes a second one node may copy; 0 is no bound.
	Throttle int64
}

// Settings name the strategy; the fields are those of ring/strategy's Config, which
// lies above this package.
type Settings struct {
	Name       string
	Hash       string
	Points     int
	KetamaRule string
	VNodes     int
	Mask       uint32
}

func (c *Cluster) validate() error {
	for what, name := range map[string]string{
		"name": c.Name, "strategy": c.Strategy.Name, "hash": c.Strategy.Hash, "ketama rule": c.Strategy.KetamaRule,
	} {
		if len(name) > maxText || !utf8.ValidString(name) {
			return fmt.Errorf("%w: the %s is longer than %d bytes or not UTF-8", ErrInvalid, what, maxText)
		}
	}
	switch {
	case c.Name == "" || c.Strategy.Name == "":
		return fmt.Errorf("%w: a cluster and its strategy have names", ErrInvalid)
	case c.Generation == 0:
		return fmt.Errorf("%w: generation 0", ErrInvalid)
	case c.Backups < 0 || c.Backups > maxCopies || c.Strategy.Points < 0 || c.Strategy.VNodes < 0:
		return fmt.Errorf("%w: a setting out of its bounds", ErrInvalid)
	}
	return c.Moves.validate()
}

func (m *Moves) validate() error {
	if m.Throttle < 0 {
		return fmt.Errorf("%w: a throttle of %d bytes a second", ErrInvalid, m.Throttle)
	}
	return nil
}

// code leaves the Moves out: they are no part of [Found], whose form lies in the logs.
func (c *Cluster) code(x *codec) {
	x.text(&c.Name)
	x.number(&c.Generation)
	x.text(&c.Strategy.Name)
	x.text(&c.Strategy.Hash)
	x.integer(&c.Strategy.Points)
	x.text(&c.Strategy.KetamaRule)
	x.integer(&c.Strategy.VNodes)
	mask := ring.Token(c.Strategy.Mask)
	x.token(&mask)
	c.Strategy.Mask = uint32(mask)
	x.integer(&c.Backups)
}

func (m *Moves) code(x *codec) {
	x.flag(&m.Paused)
	x.signed(&m.Throttle)
}
