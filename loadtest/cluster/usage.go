package cluster

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// CPUTick is the unit of [CPUTime]: USER_HZ is 100 on every architecture that Go runs on.
const CPUTick = 10 * time.Millisecond

// CPUTime returns the processor time of a process, without and with that of its children that have
// ended, such as the one that rewrites Redis' AOF. It is known on Linux only.
func CPUTime(pid int) (own, all time.Duration, known bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	return parseStat(string(stat))
}

func parseStat(stat string) (own, all time.Duration, ok bool) {
	// The second field is the name in parentheses, which may hold anything.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const utime, cutime, cstime = 14 - 3, 16 - 3, 17 - 3 // fields count from 1, these begin with the third
	if len(fields) <= cstime {
		return 0, 0, false
	}
	for i := utime; i <= cstime; i++ {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, 0, false
		}
		all += time.Duration(n) * CPUTick
		if i < cutime {
			own = all
		}
	}
	return own, all, true
}

// ResidentMemory returns the bytes that a process has in memory, now and at most. They are known on
// Linux only.
func ResidentMemory(pid int) (now, peak int64, known bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, false
	}
	now, ok1 := Kilobytes(string(status), "VmRSS")
	peak, ok2 := Kilobytes(string(status), "VmHWM")
	return now, peak, ok1 && ok2
}

// Kilobytes finds a line such as "VmRSS:  1234 kB" in a file of /proc and returns its bytes.
func Kilobytes(text, name string) (bytes int64, ok bool) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return n << 10, err == nil
		}
	}
	return 0, false
}
