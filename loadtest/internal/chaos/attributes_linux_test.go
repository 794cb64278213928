package chaos

import "syscall"

// attributes give a process a network and a host name of its own, and an end when this one
// ends.
func attributes(isolated bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if isolated {
		attr.Cloneflags = syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS
	}
	return attr
}
