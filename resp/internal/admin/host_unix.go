//go:build unix

package admin

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// hostOS names the operating system, its version and the machine's kind.
func hostOS() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:]) + " " +
		unix.ByteSliceToString(u.Machine[:])
}

// CPUTimes returns the processor time that the process has used so far.
func CPUTimes() (system, user time.Duration) {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return 0, 0
	}
	return time.Duration(r.Stime.Nano()), time.Duration(r.Utime.Nano())
}
