package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// ErrNotLearner says that a stream is for ranges that this node does not receive, by
// the newest state that it knows.
var ErrNotLearner = errors.New("not a learner of the range")

// Serve receives one stream from another node, until it ends.
func (e *Engine) Serve(ctx context.Context, from string, conn net.Conn) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var applies []func([]byte) error
	var ends []func()
	defer func() {
		for _, end := range ends {
			end()
		}
	}()
	return Receive(conn, func(text []byte) error {
		var p purpose
		if err := json.Unmarshal(text, &p); err != nil {
			return fmt.Errorf("%w: %w", ErrFrame, err)
		}
		if p.From != from {
			return fmt.Errorf("%w: a stream of %.100q from %s", ErrFrame, p.From, from)
		}
		if err := e.expect(ctx, &p); err != nil {
			return err
		}
		for _, r := range p.Ranges {
			apply, end := e.cfg.Store.Receive(r)
			ends = append(ends, end)
			applies = append(applies, apply)
		}
		return nil
	}, func(r int, batch []byte) error {
		if r >= len(applies) {
			return fmt.Errorf("%w: a batch of range %d", ErrFrame, r)
		}
		return applies[r](batch)
	})
}

// expect waits until this node knows that it is to receive the ranges, and makes room:
// what lies there is left from earlier.
func (e *Engine) expect(ctx context.Context, p *purpose) error {
	if p.Incarnation != e.cfg.Incarnation {
		return fmt.Errorf("%w: it is for incarnation %d", ErrNotLearner, p.Incarnation)
	}
	within, cancel := context.WithTimeout(ctx, e.cfg.Retry)
	defer cancel()
	changes, end := e.cfg.Table.Changes()
	defer end()
	for !e.learns(p) {
		select {
		case <-changes:
		case <-within.Done():
			return fmt.Errorf("%w: handoff %d", ErrNotLearner, p.Handoff)
		}
	}
	return e.cfg.Store.Drop(p.Ranges...)
}

func (e *Engine) learns(p *purpose) bool {
	st := e.cfg.Table.State()
	return !slices.ContainsFunc(p.Ranges, func(r ring.Range) bool {
		row, ok := st.Row(r.Start)
		return !ok || row.Range != r || row.Primary != p.From || !slices.Contains(row.Learners, e.cfg.Self) ||
			row.Op.Handoff != p.Handoff
	})
}

// sortedFrom orders tokens by their distance from one, without doubles.
func sortedFrom(start ring.Token, tokens []ring.Token) []ring.Token {
	slices.SortFunc(tokens, func(a, b ring.Token) int {
		switch x, y := a-start, b-start; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return slices.Compact(tokens)
}
