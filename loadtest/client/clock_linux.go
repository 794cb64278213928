package client

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A clock is a timer of the kernel's, on which the network poller waits. It rings once at a time.
type clock struct {
	fd   int
	file *os.File
}

func newClock() (*clock, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a timer: %w", err)
	}
	return &clock{fd, os.NewFile(uintptr(fd), "timer")}, nil
}

// ring has wait return after so long. It is not called after close, so that the descriptor is its own.
func (c *clock) ring(after time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(after))}
	if err := unix.TimerfdSettime(c.fd, 0, &spec, nil); err != nil {
		panic("client: a timer cannot be set: " + err.Error())
	}
}

// wait returns false once the clock is closed.
func (c *clock) wait() bool {
	var times [8]byte
	_, err := c.file.Read(times[:])
	return err == nil
}

func (c *clock) close() { _ = c.file.Close() }
