//go:build !linux

package node

import "time"

func systemClock() func() time.Duration { return monotonic }
