//go:build linux && !race

package socket

import (
	"syscall"
	"unsafe"
)

const direct = true

func read(fd uintptr, p []byte) (int, error)  { return call(syscall.SYS_READ, fd, p) }
func write(fd uintptr, p []byte) (int, error) { return call(syscall.SYS_WRITE, fd, p) }

func call(number, fd uintptr, p []byte) (int, error) {
	for {
		n, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		case syscall.EAGAIN:
			return 0, syscall.EAGAIN // not made anew
		default:
			return 0, errno
		}
	}
}
