//go:build unix && (!linux || race)

package socket

import "golang.org/x/sys/unix"

// direct: the race detector has to see reads and writes, and so gets those that are announced.
const direct = true

func read(fd uintptr, p []byte) (int, error)  { return call(unix.Read, fd, p) }
func write(fd uintptr, p []byte) (int, error) { return call(unix.Write, fd, p) }

func call(one func(int, []byte) (int, error), fd uintptr, p []byte) (int, error) {
	for {
		if n, err := one(int(fd), p); err != unix.EINTR {
			return max(n, 0), err
		}
	}
}
