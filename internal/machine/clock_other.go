//go:build !linux

package machine

import "time"

// Clocks returns the clock by which a node counts the leases of others, and that by which it counts its own.
func Clocks() (clock, own func() time.Duration) { return monotonic, monotonic }
