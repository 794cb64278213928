//go:build !unix

package resp

import (
	"runtime"
	"time"
)

func hostOS() string { return runtime.GOOS }

func cpuTimes() (system, user time.Duration) { return 0, 0 }
