package table

import (
	"fmt"
	"unicode/utf8"

	"github.com/ringside-kv/ringside/ring"
)

// Cluster is what all nodes of a cluster have in common. [SetStrategy], [SetBackups] and
// [SetMoves] change it; the rest is fixed when the cluster is founded.
type Cluster struct {
	Name string
	// Generation tells this cluster from every other of its name: a random number,
	// chosen by the founder, and again by the recovery of a cluster that has lost its
	// majority. Never 0.
	Generation uint64
	// Strategy is the strategy in force. Its Hash is fixed when the cluster is founded.
	Strategy Settings
	// Switch is of the zero value when the cluster is founded; see [SetStrategy].
	Switch
	// Backups is how many copies are wanted beside the primary.
	Backups int
	// Moves are of the zero value when the cluster is founded; see [SetMoves].
	Moves
}

// A Switch says how the strategy became what it is.
type Switch struct {
	// Founding are the settings that the cluster was founded with, once the strategy has been
	// switched; see [Cluster.FoundedWith].
	Founding Settings
	// Since is the table index of the last switch; 0 if there was none.
	Since uint64
	// Unfinished reports that the placement does not follow from the new strategy yet.
	Unfinished bool
}

// FoundedWith returns the settings that the cluster was founded with. The strategy that they name
// is the one whose hash the hash "native" is.
func (c *Cluster) FoundedWith() Settings {
	if c.Since == 0 {
		return c.Strategy
	}
	return c.Founding
}

// Tuned reports whether the settings, or those at the founding, are ones that older builds do not know.
func (c *Cluster) Tuned() bool {
	return c.Strategy.Cells != CellSettings{} || c.Founding.Cells != CellSettings{}
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
	Cells      CellSettings
}

// CellSettings are those of algorithms on cells, with zero for each default.
type CellSettings struct {
	Probes, Candidates int
	Slack              float64
}

func (c *Cluster) validate() error {
	if len(c.Name) > maxText || !utf8.ValidString(c.Name) {
		return fmt.Errorf("%w: the name is longer than %d bytes or not UTF-8", ErrInvalid, maxText)
	}
	switch {
	case c.Name == "":
		return fmt.Errorf("%w: a cluster has a name", ErrInvalid)
	case c.Generation == 0:
		return fmt.Errorf("%w: generation 0", ErrInvalid)
	case c.Backups < 0 || c.Backups > maxCopies:
		return fmt.Errorf("%w: a setting out of its bounds", ErrInvalid)
	}
	if err := c.Strategy.validate(); err != nil {
		return err
	}
	if err := c.Switch.validate(); err != nil {
		return err
	}
	return c.Moves.validate()
}

func (s *Settings) validate() error {
	for what, name := range map[string]string{"strategy": s.Name, "hash": s.Hash, "ketama rule": s.KetamaRule} {
		if len(name) > maxText || !utf8.ValidString(name) {
			return fmt.Errorf("%w: the %s is longer than %d bytes or not UTF-8", ErrInvalid, what, maxText)
		}
	}
	switch {
	case s.Name == "":
		return fmt.Errorf("%w: a strategy has a name", ErrInvalid)
	case s.Points < 0 || s.VNodes < 0 || s.Cells.Probes < 0 || s.Cells.Candidates < 0 || !(s.Cells.Slack >= 0):
		return fmt.Errorf("%w: a setting out of its bounds", ErrInvalid)
	}
	return nil
}

func (s *Switch) validate() error {
	switch {
	case s.Since == 0 && *s != Switch{}:
		return fmt.Errorf("%w: a switch at no index", ErrInvalid)
	case s.Since != 0:
		return s.Founding.validate()
	}
	return nil
}

func (m *Moves) validate() error {
	if m.Throttle < 0 {
		return fmt.Errorf("%w: a throttle of %d bytes a second", ErrInvalid, m.Throttle)
	}
	return nil
}

// code leaves Moves and Switch out: they are no part of [Found], whose form lies in the logs.
func (c *Cluster) code(x *codec) {
	x.text(&c.Name)
	x.number(&c.Generation)
	c.Strategy.code(x)
	x.integer(&c.Backups)
}

// code leaves Cells out, which older builds do not know: see [addedSettings].
func (s *Settings) code(x *codec) {
	x.text(&s.Name)
	x.text(&s.Hash)
	x.integer(&s.Points)
	x.text(&s.KetamaRule)
	x.integer(&s.VNodes)
	mask := ring.Token(s.Mask)
	x.token(&mask)
	s.Mask = uint32(mask)
}

func (s *CellSettings) code(x *codec) {
	x.integer(&s.Probes)
	x.integer(&s.Candidates)
	x.float(&s.Slack)
}

// addedSettings codes what older builds do not write: the last of a command that sets the strategy.
func addedSettings(x *codec, seated *bool, s *CellSettings) {
	if x.reading && len(x.buf) == 0 || !x.reading && *s == (CellSettings{}) {
		x.addedFlag(seated)
		return
	}
	x.flag(seated)
	if !x.reading || len(x.buf) > 0 {
		s.code(x)
	}
}

func (s *Switch) code(x *codec) {
	s.Founding.code(x)
	x.number(&s.Since)
	x.flag(&s.Unfinished)
}

func (m *Moves) code(x *codec) {
	x.flag(&m.Paused)
	x.signed(&m.Throttle)
}
