//go:build !linux

package main

import "syscall"

func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
