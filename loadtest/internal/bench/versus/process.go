package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the times in /proc/<pid>/stat: USER_HZ is 100 on every
// architecture that Go runs on.
const tick = 10 * time.Millisecond

// cpuTime is what a process has used, with those of its children that have
// ended, such as the one that rewrites Redis' AOF. It is known on Linux only.
func cpuTime(pid int) (time.Duration, bool) {
	if runtime.GOOS != "linux" {
		return 0, false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	return parseStat(string(stat))
}

func parseStat(stat string) (time.Duration, bool) {
	// The second field is the name in parentheses, which may hold anything.
	_, rest, ok := cutLast(stat, ")")
	fields := strings.Fields(rest)
	const utime, cstime = 14 - 3, 17 - 3 // fields count from 1, the rest begins with the third
	if !ok || len(fields) <= cstime {
		return 0, false
	}
	var sum time.Duration
	for _, field := range fields[utime : cstime+1] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, false
		}
		sum += time.Duration(n) * tick
	}
	return sum, true
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// residentMemory is what a process has in memory, now and at most, in bytes. It
// is known on Linux only.
func residentMemory(pid int) (now, peak int64, ok bool) {
	if runtime.GOOS != "linux" {
		return 0, 0, false
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, false
	}
	now, ok1 := kilobytes(string(status), "VmRSS")
	peak, ok2 := kilobytes(string(status), "VmHWM")
	return now, peak, ok1 && ok2
}

// kilobytes reads a line such as "VmRSS:  1234 kB".
func kilobytes(text, name string) (int64, bool) {
	value, ok := infoField(text, name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64)
	return n << 10, err == nil
}
