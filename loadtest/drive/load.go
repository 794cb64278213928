package drive

import (
	"context"
	"errors"
)

// A Load is the clients of one run. It is filled, started and stopped once each, in that
// order, by one goroutine; [Load.Phase] and [Load.Now] may be called from any.
type Load struct {
	cfg Config
}

var errTodo = errors.New("not there yet")

// Open connects all clients. The error lists every fault of the Config, or what became of
// each target. Close must be called.
func Open(ctx context.Context, cfg Config) (*Load, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return nil, errTodo
}

// Fill writes keys 0 to keys-1, as fast as it goes, until each is written. It may be called
// again, also while clients run. Nothing of it is in the series.
func (l *Load) Fill(ctx context.Context, keys int64) error { return errTodo }

// Start lets the clients begin.
func (l *Load) Start() {}

// Phase has what ends from now on count as another phase.
func (l *Load) Phase(name string) {}

// Now is how it goes.
func (l *Load) Now() Live { return Live{} }

// Stop lets clients end what they are at, and returns what they saw. If ctx ends before,
// they are cut off.
func (l *Load) Stop(ctx context.Context) (Result, error) { return Result{}, errTodo }

// Recheck reads every key that somebody has written once more, after Stop, until ctx ends.
func (l *Load) Recheck(ctx context.Context) error { return errTodo }

// Close ends all connections.
func (l *Load) Close() error { return nil }
