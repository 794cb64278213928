package table

import (
	"slices"

	"github.com/ringside-kv/ringside/internal/database"
)

// Databases is how many numbered databases the cluster has, at least 1. Clusters from before there were
// any have one.
func (s *State) Databases() int { return max(s.databases, 1) }

// Policies are those of the databases; nil if each has the default. The pointer changes with them alone.
func (s *State) Policies() *database.Policies { return s.policies }

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

// SetPolicy begins to change the policy of a database, or ends that.
//
// Invariant: while a change is under way no node that has applied its beginning runs a request for a key of
// the database. Who began it hears so from the primary of each range, with the number of keys, and gives the
// database a new policy only if there is none. A primary that is promoted later has applied the beginning.
type SetPolicy struct {
	// Policy has a Change that is not 0 to begin. To end, it is the policy from then on, or, with a
	// Change that is Ends, the one from before stays.
	Policy database.Policy
	Ends   uint64      // the Change that ends; 0 to begin one
	Starts []NodeStart // as in [SetDatabases], to begin
}

func (*SetPolicy) kind() kind { return kindSetPolicy }

func (s *SetPolicy) code(c *codec) {
	codePolicy(c, &s.Policy)
	c.number(&s.Ends)
	starts(c, &s.Starts)
}

func codePolicy(c *codec, p *database.Policy) {
	c.integer(&p.Number)
	c.flag(&p.Together)
	c.integer(&p.Spot)
	c.number(&p.Change)
}

func (s *SetPolicy) apply(d *draft) error {
	was := d.policies.Of(s.Policy.Number)
	switch {
	case !s.Policy.Valid() || s.Policy.Number >= d.Databases():
		return refuse(ErrInvalid, "database %d has no such policy", s.Policy.Number)
	case s.Ends != was.Change:
		return refuse(ErrStale, "the policy of database %d is being changed, or that change has ended", was.Number)
	case s.Policy.Change != 0 && s.Ends != 0 && s.Policy.Change != s.Ends, s.Policy.Change == 0 && s.Ends == 0:
		return refuse(ErrInvalid, "a change of a policy that neither begins nor ends")
	}
	if err := d.knownStarts(s.Starts); err != nil && s.Ends == 0 {
		return err
	}
	policy := s.Policy
	if policy.Change != 0 { // only the change begins or ends
		policy, policy.Change = was, policy.Change-s.Ends
	}
	d.policies = d.policies.With(policy)
	return nil
}

// codePolicies codes the policies of a state, or of a founder.
func codePolicies(c *codec, policies **database.Policies, databases int) {
	all := slices.Clone((*policies).All())
	list(c, &all, 4, func(p *database.Policy) {
		codePolicy(c, p)
		if c.reading && (!p.Valid() || p.Number >= databases) {
			c.fail("a policy of a database that cannot be")
		}
	})
	*policies = database.NewPolicies(all)
}
