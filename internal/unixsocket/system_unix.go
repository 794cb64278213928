//go:build unix

package unixsocket

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// lockPollInterval is the time between two attempts to lock a directory.
const lockPollInterval = 5 * time.Millisecond

// restrict gives a socket its mode before it gets a file. Linux creates the file with it, so that
// no other user connects before Listen has set the mode. Other systems do not know this.
func restrict(raw syscall.RawConn, mode fs.FileMode) error {
	return raw.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), uint32(mode.Perm())) })
}

// lockDir locks a directory against other processes that listen in it, until unlock is called. Every user who may read
// the directory can hold the lock, so it waits no longer than wait, and returns without the lock then.
func lockDir(dir string, wait time.Duration) (unlock func()) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(wait); ; time.Sleep(lockPollInterval) {
		err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR || !time.Now().Before(end) {
			return func() { _ = d.Close() }
		}
	}
}
