//go:build unix

package unixsocket

import (
	"io/fs"
	"os"
	"syscall"
)

// restrict gives a socket its mode before it gets a file. Linux creates the file with it, so that
// no other user connects before Listen has set the mode. Other systems do not know this.
func restrict(raw syscall.RawConn, mode fs.FileMode) error {
	return raw.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), uint32(mode.Perm())) })
}

// lockDir locks a directory against other processes that listen in it, as far as the process may
// read it, until unlock is called.
func lockDir(dir string) (unlock func()) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for syscall.Flock(int(d.Fd()), syscall.LOCK_EX) == syscall.EINTR {
	}
	return func() { _ = d.Close() }
}
