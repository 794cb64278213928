//go:build !linux

package processors

import (
	"errors"
	"time"
)

// Other kernels say nothing of this.

func (here) soonest() (at, ran time.Duration) { return 0, 0 }
func (here) all() (reading, error)            { return reading{}, errors.ErrUnsupported }
