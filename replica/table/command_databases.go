package table

import "github.com/ringside-kv/ringside/internal/database"

// Databases is how many numbered databases the cluster has, at least 1. Clusters from before there were
// any have one.
func (s *State) Databases() int { return max(s.databases, 1) }

// SetDatabases raises the number of databases. Builds that do not know this command stop at its entry, so
// the proposer asks all nodes first: see Starts.
type SetDatabases struct {
	Databases int
	// Starts are the nodes of which the proposer knows that they understand this command. They are all
	// nodes that are not gone.
	Starts []NodeStart
}

func (*SetDatabases) kind() kind { return kindSetDatabases }

func (s *SetDatabases) code(c *codec) {
	c.integer(&s.Databases)
	starts(c, &s.Starts)
}

func (s *SetDatabases) apply(d *draft) error {
	switch was := d.Databases(); {
	case s.Databases > database.Limit:
		return refuse(ErrInvalid, "%d databases, %d are allowed", s.Databases, database.Limit)
	case s.Databases < was:
		return refuse(ErrInvalid, "there are %d databases: their number can only be raised", was)
	}
	if err := d.knownStarts(s.Starts); err != nil {
		return err
	}
	d.databases = s.Databases
	return nil
}

// codeDatabases codes the number of databases of a state.
func (d *draft) codeDatabases(c *codec) {
	c.integer(&d.databases)
	if c.reading && (d.databases < 2 || d.databases > database.Limit) {
		c.fail("a number of databases that cannot be")
	}
}
