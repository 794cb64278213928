//go:build !linux

package cluster

import "syscall"

// attributes are nothing where systems know of no signal for the end of a parent: Close ends
// the processes.
func attributes() *syscall.SysProcAttr { return nil }
