//go:build !unix

package admin

import (
	"runtime"
	"time"
)

func hostOS() string { return runtime.GOOS }

// CPUTimes returns nothing: the processor time is not known here.
func CPUTimes() (system, user time.Duration) { return 0, 0 }
