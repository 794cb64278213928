package table

import (
	"context"
	"fmt"
)

// CheckRegistered asks the leader whether the given incarnation of this node is still the
// registered one. It proposes nothing. The error is nil if the start is registered, and wraps
// [ErrIncarnation] if the node was taken out or a later start of it is registered; that is
// final. Any other error says nothing: no leader answers, or the leader is of an earlier build,
// which does not know the question.
func (t *Table) CheckRegistered(ctx context.Context, incarnation uint64) error {
	ctx, leave, err := t.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	start := Encode(&Register{Node: t.cfg.ID, Incarnation: incarnation, Server: t.disk.server})
	_, err = t.try(ctx, request{messageRegistered, start})
	return err
}

// answerRegistered is the leader's answer to [Table.CheckRegistered], in the form of the answer to
// a command.
func (t *Table) answerRegistered(ctx context.Context, data []byte) (outcome, error) {
	command, err := Decode(data)
	start, ok := command.(*Register)
	if err != nil || !ok {
		return outcome{}, refuse(ErrInvalid, "the message names no start of a node")
	}
	if t.State().registered(start) {
		return outcome{}, nil
	}
	// A new leader may not have applied the entry that registers the start.
	if err := t.await(ctx, func() error { return t.raft.Barrier(t.cfg.ElectionTimeout).Error() }); err != nil {
		return outcome{}, fmt.Errorf("table: look for a start of %s: %w: %w", start.Node, errNotProposed, err)
	}
	if t.State().registered(start) {
		return outcome{}, nil
	}
	return outcome{}, refuse(ErrIncarnation, "%s as started as %d", start.Node, start.Incarnation)
}

// registered reports whether the newest start of a node is that of a command.
func (s *State) registered(r *Register) bool {
	n, known := s.Node(r.Node)
	return known && n.State != Gone && n.Incarnation == r.Incarnation && n.Server == r.Server
}
