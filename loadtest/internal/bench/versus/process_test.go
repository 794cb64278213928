package main

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestParseStatPassesOverAnyName(t *testing.T) {
	const stat = "4242 (a) b (c) S 1 4242 4242 0 -1 4194560 9 8 7 6 150 50 20 5 20 0 4 0 123 456 789"
	if got, ok := parseStat(stat); !ok || got != 2250*time.Millisecond {
		t.Errorf("%v, %v", got, ok)
	}
	for _, bad := range []string{"", "1 (x", "1 (x) S 1 2 3"} {
		if got, ok := parseStat(bad); ok {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func TestOwnProcessIsKnownOnLinux(t *testing.T) {
	_, cpu := cpuTime(os.Getpid())
	now, peak, mem := residentMemory(os.Getpid())
	if linux := runtime.GOOS == "linux"; cpu != linux || mem != linux || linux && (now <= 0 || peak < now) {
		t.Errorf("CPU time %v, memory %v: %d, at most %d", cpu, mem, now, peak)
	}
}

func TestFileSystemIsThatOfTheNearestMount(t *testing.T) {
	const mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tmp/data xfs rw 0 0\n"
	for path, want := range map[string]string{
		"/var/x": "ext4", "/tmp": "tmpfs", "/tmp/x": "tmpfs", "/tmpx": "ext4", "/tmp/data/x": "xfs",
	} {
		if got := fileSystem(mounts, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var out tail
	for range 3 {
		out.Write([]byte(strings.Repeat("x", tailSize/2)))
	}
	out.Write([]byte("the end"))
	if got := out.String(); len(got) != tailSize || !strings.HasSuffix(got, "xthe end") {
		t.Errorf("%d bytes, %q", len(got), got[max(0, len(got)-20):])
	}
}
