package cluster

import (
	"os"
	"runtime"
	"testing"
)

func TestOwnProcessIsKnownOnLinux(t *testing.T) {
	_, _, cpu := CPUTime(os.Getpid())
	now, peak, mem := ResidentMemory(os.Getpid())
	if linux := runtime.GOOS == "linux"; cpu != linux || mem != linux || linux && (now <= 0 || peak < now) {
		t.Errorf("CPU time %v, memory %v: %d, at most %d", cpu, mem, now, peak)
	}
}
