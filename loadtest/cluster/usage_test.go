package cluster

import (
	"os"
	"runtime"
	"testing"
	"time"
)

func TestParseStatPassesOverAnyName(t *testing.T) {
	const stat = "4242 (a) b (c) S 1 4242 4242 0 -1 4194560 9 8 7 6 150 50 20 5 20 0 4 0 123 456 789"
	if own, all, ok := parseStat(stat); !ok || own != 2000*time.Millisecond || all != 2250*time.Millisecond {
		t.Errorf("%v, %v, %v", own, all, ok)
	}
	for _, bad := range []string{"", "1 (x", "1 (x) S 1 2 3"} {
		if own, all, ok := parseStat(bad); ok {
			t.Errorf("%q: %v, %v", bad, own, all)
		}
	}
}

func TestOwnProcessIsKnownOnLinux(t *testing.T) {
	_, _, cpu := CPUTime(os.Getpid())
	now, peak, mem := ResidentMemory(os.Getpid())
	if linux := runtime.GOOS == "linux"; cpu != linux || mem != linux || linux && (now <= 0 || peak < now) {
		t.Errorf("CPU time %v, memory %v: %d, at most %d", cpu, mem, now, peak)
	}
}
