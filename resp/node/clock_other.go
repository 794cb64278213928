//go:build !linux

package node

import "time"

func systemClocks() (clock, own func() time.Duration) { return monotonic, monotonic }
