package result

import (
	"errors"
	"fmt"
	"time"
)

// A SeriesConfig says what a series is of.
type SeriesConfig struct {
	// Window is the length of a window, 1 ms to 1 h.
	Window time.Duration
	// Commands are the names of those that operations are of.
	Commands []string
	// Open tells that operations begin at times of their own, so that there is a time of
	// service beside the latency.
	Open bool
	// Name is that of a key, by its number; nil is the number.
	Name func(key int64) string
}

// Validate reports every fault at once.
func (c *SeriesConfig) Validate() error {
	var faults []error
	if c.Window < time.Millisecond || c.Window > time.Hour {
		faults = append(faults, fmt.Errorf("result: a window of %s is not between 1ms and 1h", c.Window))
	}
	if len(c.Commands) == 0 {
		faults = append(faults, errors.New("result: no commands"))
	}
	return errors.Join(faults...)
}
