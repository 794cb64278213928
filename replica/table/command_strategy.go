package table

// SetStrategy switches the strategy, or changes its settings. Ranges and copies follow by
// handoffs. Builds that do not know this command stop at its entry, so the proposer asks all
// nodes first: see Starts.
type SetStrategy struct {
	// Strategy is the new one. Its hash is that of the cluster.
	Strategy Settings
	// After is the [Switch.Since] that the proposer knows.
	After uint64
	// Starts are the nodes of which the proposer knows that they understand this command. They
	// are all nodes that are not gone.
	Starts []NodeStart
	// Seated reports that placements of the strategy carry [ring.Seats].
	Seated bool
}

func (*SetStrategy) kind() kind { return kindSetStrategy }

func (s *SetStrategy) code(c *codec) {
	s.Strategy.code(c)
	c.number(&s.After)
	starts(c, &s.Starts)
	addedSettings(c, &s.Seated, &s.Strategy.Cells)
}

func (s *SetStrategy) apply(d *draft) error {
	of := &d.cluster
	if s.After != of.Since {
		return refuse(ErrStale, "the strategy was switched at index %d, not at %d", of.Since, s.After)
	}
	if s.Strategy.Hash != of.Strategy.Hash {
		return refuse(ErrInvalid, "the hash is %.40q for good, so it cannot become %.40q", of.Strategy.Hash, s.Strategy.Hash)
	}
	if s.Strategy == of.Strategy {
		return refuse(ErrInvalid, "the strategy is %.40q already", s.Strategy.Name)
	}
	if err := d.knownStarts(s.Starts); err != nil {
		return err
	}
	if len(d.load.Overrides) > 0 { // they are of the load under the strategy before
		d.load.Overrides, d.load.Since = nil, d.index
	}
	of.Switch = Switch{Founding: of.FoundedWith(), Since: d.index, Unfinished: true}
	of.Strategy = s.Strategy
	d.seat(s.Seated)
	d.replan()
	return of.validate()
}

// EndSwitch says that the placement is that of the new strategy.
type EndSwitch struct {
	// Since is the [Switch.Since] of the switch.
	Since uint64
	// Basis is the [State.Basis] of the table that was looked at.
	Basis uint64
}

func (*EndSwitch) kind() kind { return kindEndSwitch }

func (e *EndSwitch) code(c *codec) {
	c.number(&e.Since)
	c.number(&e.Basis)
}

func (e *EndSwitch) apply(d *draft) error {
	if e.Since != d.cluster.Since || !d.cluster.Unfinished || e.Basis != d.basis {
		return refuse(ErrStale, "the switch at index %d, with a table of %d", e.Since, e.Basis)
	}
	d.cluster.Unfinished = false
	d.replan()
	return nil
}
