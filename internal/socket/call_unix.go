//go:build unix && (!linux || race)

package socket

import "syscall"

// direct: the race detector learns from package syscall who hears of what, as in package
// net, and so gets calls that are announced.
const direct = true

func read(fd uintptr, p []byte) (int, error)  { return call(syscall.Read, fd, p) }
func write(fd uintptr, p []byte) (int, error) { return call(syscall.Write, fd, p) }

func call(one func(int, []byte) (int, error), fd uintptr, p []byte) (int, error) {
	for {
		if n, err := one(int(fd), p); err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
