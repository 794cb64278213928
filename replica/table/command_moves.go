package table

// SetMoves says how data may move from now on, in the whole cluster. It compares
// nothing, unlike every other command: it is an operator's order, and the last one
// holds.
type SetMoves struct {
	// Paused and Throttle are those of [Moves]; nil leaves one as it is.
	Paused   *bool
	Throttle *int64
}

func (*SetMoves) kind() kind { return kindSetMoves }

func (s *SetMoves) code(c *codec) {
	optional(c, &s.Paused, c.flag)
	optional(c, &s.Throttle, c.signed)
}

// apply leaves the basis as it is: what should be where does not depend on how fast
// it gets there.
func (s *SetMoves) apply(d *draft) error {
	if s.Paused == nil && s.Throttle == nil {
		return refuse(ErrInvalid, "an order about moves that says nothing")
	}
	moves := d.cluster.Moves
	if s.Paused != nil {
		moves.Paused = *s.Paused
	}
	if s.Throttle != nil {
		moves.Throttle = *s.Throttle
	}
	if err := moves.validate(); err != nil {
		return err
	}
	d.cluster.Moves = moves
	return nil
}
