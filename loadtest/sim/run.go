package sim

import (
	"context"
	"errors"
)

// Run simulates and returns the report. It computes on all cores, keeps no goroutine
// and may be called many times at once. If the context ends before it is done, it
// returns what is done with Report.Stopped set, and no error.
func Run(ctx context.Context, c Config) (*Report, error) {
	if _, err := c.prepare(); err != nil {
		return nil, err
	}
	return nil, errors.New("not yet")
}
