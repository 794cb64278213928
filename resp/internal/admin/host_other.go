//go:build !unix

package admin

import (
	"runtime"
	"time"
)

func hostOS() string { return runtime.GOOS }

func cpuTimes() (system, user time.Duration) { return 0, 0 }
