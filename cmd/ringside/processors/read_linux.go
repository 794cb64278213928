package processors

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of /proc/stat, on every architecture.
const tick = 10 * time.Millisecond

func (here) soonest() (at, ran time.Duration) { return now(), used() }

func (here) all() (reading, error) {
	r := reading{at: now(), ran: used()}
	var err error
	if r.waited, err = waited(); err != nil {
		return r, err
	}
	r.idle, err = idle()
	return r, err
}

func now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// used is the processor time of the process.
func used() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// waited is for how long the threads could have run, and did not.
func waited() (time.Duration, error) {
	const dir = "/proc/self/task"
	threads, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var sum int64
	var line [64]byte
	for _, thread := range threads {
		stat, err := readLine(dir+"/"+thread.Name()+"/schedstat", line[:])
		if (errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH)) && thread != threads[0] {
			continue // it has ended
		}
		if err != nil {
			return 0, err
		}
		fields := bytes.Fields(stat) // ran, waited, how often
		if len(fields) < 2 {
			return 0, errors.New("processors: schedstat has too few fields")
		}
		n, err := strconv.ParseInt(string(fields[1]), 10, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return time.Duration(sum), nil
}

// readLine reads a file of one line, which fits into buf. This takes three system calls, where [os.ReadFile] takes ten, and
// a busy process reads a file of each of its threads 20 times a second.
func readLine(path string, buf []byte) ([]byte, error) {
	file, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	n, err := unix.Read(file, buf)
	_ = unix.Close(file)
	return buf[:max(n, 0)], err
}

// idle is for how long those processors had nothing to do on which this process may run.
func idle() (time.Duration, error) {
	var mine unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mine); err != nil {
		return 0, err
	}
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	var sum int64
	for line := range bytes.Lines(stat) {
		fields := bytes.Fields(line) // cpuN user nice system idle iowait …
		if len(fields) < 6 || !bytes.HasPrefix(fields[0], []byte("cpu")) {
			continue
		}
		cpu, err := strconv.Atoi(string(fields[0][len("cpu"):]))
		if err != nil || !mine.IsSet(cpu) {
			continue // or the sum of all
		}
		for _, field := range fields[4:6] {
			n, err := strconv.ParseInt(string(field), 10, 64)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return time.Duration(sum) * tick, nil
}
