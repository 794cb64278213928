package cluster

import (
	"time"

	"github.com/prometheus/procfs"
)

// CPUTick is the unit of [CPUTime]: USER_HZ is 100 on every architecture that Go runs on.
const CPUTick = 10 * time.Millisecond

// CPUTime returns the processor time of a process, without and with that of its children that have
// ended, such as the one that rewrites Redis' AOF. It is known on Linux only.
func CPUTime(pid int) (own, all time.Duration, known bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0, false
	}
	stat, err := p.Stat()
	own = CPUTick * time.Duration(stat.UTime+stat.STime)
	return own, own + CPUTick*time.Duration(stat.CUTime+stat.CSTime), err == nil
}

// ResidentMemory returns the bytes that a process has in memory, now and at most. They are known on
// Linux only.
func ResidentMemory(pid int) (now, peak int64, known bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0, false
	}
	status, err := p.NewStatus()
	return int64(status.VmRSS), int64(status.VmHWM), err == nil && status.VmHWM > 0
}
