package cluster

import "syscall"

// attributes have a process killed when this one ends, however it does, and keep the
// terminal's Ctrl-C from it, which is for this one alone.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
